"use strict";
// The page: fields, address and display.

const DEFAULTS = { x: "7/5", y: "", operation: "add", primes: "2, 3, 5, 7", precision: "16", fractional: "" };
const TEXT_FIELDS = ["x", "y", "primes", "precision", "fractional"];
const SYMBOLS = {}; // what x, y and z are called: z is x + y, say
const LONGEST_SHOWN = 40; // digits of an expansion that is written out
const TERMS = 5;
const WIDEST = 1214; // a drawing over the whole page, inside its card

const byId = (id) => document.getElementById(id);
const started = { ...DEFAULTS, ...JSON.parse(byId("start").textContent) };
let timer = null;
let drawnWidth = 0;

function entered() {
  const state = Object.fromEntries(TEXT_FIELDS.map((name) => [name, byId(name).value]));
  return { ...state, operation: document.querySelector("[name=operation]:checked").value };
}

/** Fill in the fields from the address; what it does not name is as the page was written, or as by default. */
function readAddress() {
  const given = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  const state = { ...(given.x === undefined ? started : DEFAULTS), ...given };
  for (const name of TEXT_FIELDS) byId(name).value = state[name];
  const chosen = Object.hasOwn(OPERATIONS, state.operation) ? state.operation : DEFAULTS.operation;
  document.querySelector(`[name=operation][value=${chosen}]`).checked = true;
  show();
}

function writeAddress(state) {
  const kept = Object.entries(state).filter(([name, value]) => name === "x" || value !== DEFAULTS[name]);
  const hash = new URLSearchParams(kept).toString().replaceAll("%2F", "/").replaceAll("%2C", ",");
  history.replaceState(null, "", `#${hash}`);
}

/** Compute and draw; an error stands beside its field, and what is still shown is greyed. */
function show() {
  stop();
  for (const name of TEXT_FIELDS) setError(name, "");
  const state = entered();
  let model;
  try {
    model = explore(state);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    setError(error.field, error.message);
    byId("results").classList.add("stale");
    byId("export").textContent = jsonText({ entered: state, error: error.message });
    return;
  }
  byId("results").classList.remove("stale");
  drawnWidth = drawingWidth(WIDEST);
  Object.assign(SYMBOLS, { z: model.y && `x\u00a0${OPERATIONS[model.operation].sign}\u00a0y` });
  byId("real").replaceChildren(...drawReal(model));
  byId("places").replaceChildren(...model.places.map((place) => drawPlace(place, model)));
  byId("decode").replaceChildren(...drawDecoding(model));
  byId("export").textContent = jsonText(toExport(model, state));
  document.querySelectorAll(".scroll").forEach(countHidden);
  prepareSteps(model);
}

/** How wide a drawing is, so that its texts have their size on a phone, too. */
function drawingWidth(most = 540) { return Math.max(280, Math.min(most, document.documentElement.clientWidth - 66)); }

function setError(field, message) {
  byId(`${field}-error`).textContent = message;
  if (message) byId(field).setAttribute("aria-invalid", "true");
  else byId(field).removeAttribute("aria-invalid");
}

// ---- the real place

function drawReal(model) {
  const numbers = [["x", model.x], ["y", model.y], ["z", model.result]].filter(([, q]) => q).map(([symbol, q]) => ({ symbol, q }));
  return [
    h("ul", { class: "numbers" }, numbers.map(({ symbol, q }) => h("li", {}, ...nameOf(symbol), rationalText(q), ...realValue(q)))),
    realFunctions(model.target, SYMBOLS.z ?? "x"),
    numberLine(numbers, drawingWidth(WIDEST)),
  ];
}

/** √x, ∛x, exp x and log x in floating point, as far as they are defined and finite. */
function realFunctions(q, symbol) {
  const value = toNumber(q);
  const name = symbol === "x" ? (f) => `${f}${f.length > 1 ? "\u00a0" : ""}x` : (f) => `${f}(${symbol})`;
  const found = [["√", Math.sqrt], ["∛", Math.cbrt], ["exp", Math.exp], ["log", Math.log]].map(([f, of]) => [f, of(value)]).filter(([, y]) => Number.isFinite(y));
  return found.length ? h("p", { class: "soft" }, found.map(([f, y]) => `${name(f)}\u00a0≈\u00a0${String(Number(y.toPrecision(8))).replace("-", "−")}`).join(", ")) : null;
}

function nameOf(symbol) { return [h("b", { class: symbol }, SYMBOLS[symbol] ?? symbol), " = "]; }

/** " = 3.142857…", with the period overlined. */
function realValue(q) {
  if (q.m === 1n) return [];
  const { sign, whole, before, period } = decimalExpansion(q);
  if (period === null || whole >= 10n ** 21n) return [` ≈ ${decimalText(q)}`];
  return [` = ${sign}${whole}.${before}`, period ? h("span", { class: "period", "aria-label": `${period} repeating` }, period) : null];
}

/** About twelve figures. */
function decimalText(q) {
  if (!q.n) return "0";
  if (q.m === 1n && abs(q.n) < 10n ** 15n) return integerText(q.n);
  const sign = q.n < 0n ? "−" : "";
  const value = Math.abs(toNumber(q));
  if (value >= 1e-4 && value < 1e15) return sign + Number(value.toPrecision(12));
  const { digits, exponent } = significantDigits(q, 12);
  return `${sign}${`${digits[0]}.${digits.slice(1)}`.replace(/\.?0+$/, "")}·10${superscript(exponent)}`;
}

// ---- a prime

function drawPlace(place, model) {
  const { p, numbers, work } = place;
  const N = model.precision;
  const F = model.fractionalDigits;
  const prime = nameOfPrime(p);
  return h("section", { class: "card", "aria-labelledby": `place-${p}`, "data-prime": p },
    h("h2", { id: `place-${p}` }, `The prime ${prime === "p" ? "p = " : ""}${integerText(p, 20)}: ℚ${subscript(prime)}`),
    p < GREATEST_PROVEN ? null : h("p", { class: "soft" }, "It passes the test of Baillie and Wagstaff, as no composite number is known to do."),
    h("ul", { class: "numbers" }, numbers.map((number) => drawNumber(number, p, N, F))),
    drawTable(place, model),
    ...(work ? drawCheck(place, model) : []),
    drawFunctions(place, model.target, SYMBOLS.z ?? "x", F),
    tree(place, F, drawingWidth()));
}

/** How a prime is written in formulas: long ones have their figures in the heading alone. */
function nameOfPrime(p) { return p < 10n ** 10n ? String(p) : "p"; }

/** √x, ∛x, exp x and log x: their digits, or why there are none. */
function drawFunctions({ p, functions }, target, symbol, F) {
  if (!functions.length) return null;
  const of = symbol === "x" ? { sqrt: "√x", cbrt: "∛x", exp: "exp x", log: "log x" }
    : { sqrt: `√(${symbol})`, cbrt: `∛(${symbol})`, exp: `exp(${symbol})`, log: `log(${symbol})` };
  const prime = nameOfPrime(p);
  const text = (digits) => [h("span", { class: "digits" }, ...expansionText(digits, p, F, { start: Math.min(0, leadingZeros(digits) - F), before: [], period: null })),
    h("sub", {}, prime)];
  const note = (name) => name === "log" && valuation(target, p) ? h("span", { class: "soft" }, ` with log ${prime} = 0`) : null;
  return h("ul", { class: "functions" }, functions.map(({ name, windows, problem }) => h("li", {},
    h("b", {}, of[name]), problem ? h("span", { class: "soft" }, `: ${problem}`) : " = ",
    (windows ?? []).map((digits, i) => [i ? " or " : null, ...text(digits)]).flat(), windows ? note(name) : null)));
}

function drawNumber({ symbol, q, valuation: v, digits, expansion: whole }, p, N, F) {
  const prime = nameOfPrime(p);
  const text = expansionText(digits, p, F, whole);
  const longest = LONGEST.toLocaleString("en");
  const repeating = whole.isLate ? `more than ${longest} digits before they repeat`
    : whole.period === null ? `a period longer than ${longest} digits`
    : ends(whole) ? "" : whole.period.length === 1 ? "period 1" : `period ${whole.period.length.toLocaleString("en")}`;
  return h("li", {},
    ...nameOf(symbol), h("span", { class: "digits" }, ...text), h("sub", {}, prime),
    h("span", { class: "facts" },
      `v${subscript(prime)} = ${v === Infinity ? "∞" : String(v).replace("-", "−")}, |${SYMBOLS[symbol] ?? symbol}|${subscript(prime)} = ${absoluteText(v, prime)}`,
      repeating ? `, ${repeating}` : ""),
    h("span", { class: "facts" }, `${rationalText(q, 20)} = `, ...sumText(digits, prime, F, ends(whole, N - F))));
}

/** Whether from p^most on, or from anywhere on, an expansion has zeros alone. */
function ends({ start, before, period }, most = Infinity) {
  return period !== null && period.length === 1 && period[0] === 0n && start + before.length <= most;
}

function digitText(digit, p) { return p <= 10n ? String(digit) : `(${digit})`; }

/** A number in a cell of a table. */
function cellText(n) {
  const text = String(n).replace("-", "−");
  return text.length <= 12 ? text : `${text.slice(0, 5)}…${text.slice(-3)}`;
}

/** An expansion as the paper writes it, highest digit first: 1.2, or with the period overlined, or …54130. */
function expansionText(digits, p, F, whole) {
  const { start, before, period } = whole;
  const write = (list, from) => list.map((digit, i) => digitText(digit, p) + (from + i === 0 && start < 0 ? "." : "")).reverse().join("");
  const length = period === null ? Infinity : before.length + period.length;
  const longest = Math.min(LONGEST_SHOWN, Math.max(3 - Math.min(start, 0), Math.ceil(4 * LONGEST_SHOWN / digitText(p, p).length)));
  if (length > longest) {
    const shown = digits.slice(F + Math.min(start, 0)).slice(0, longest);
    return ["…", write(shown, Math.min(start, 0))];
  }
  // The digit at p^0 is written even where the period begins below it.
  const written = [...before];
  while (start + written.length <= 0 && start < 0) written.push(period[(written.length - before.length) % period.length]);
  const turned = [...period.keys()].map((i) => period[(i + written.length - before.length) % period.length]);
  if (ends(whole)) return [write(written.length ? written : [0n], start)];
  const block = turned.map((digit) => digitText(digit, p)).reverse().join("");
  return ["…", h("span", { class: "period", "aria-label": `${block} repeating` }, block), write(written, start)];
}

/** c · p^k + …, lowest power first, zeros left out. */
function sumText(digits, prime, F, isWhole) {
  const terms = digits.map((digit, i) => [digit, i - F]).filter(([digit]) => digit);
  if (!terms.length) return [isWhole ? "0" : `a multiple of ${prime}${superscript(digits.length - F)}`];
  const parts = terms.slice(0, TERMS).map(([digit, k]) => {
    if (k === 0) return integerText(digit, 20);
    const power = k === 1 ? prime : `${prime}${superscript(k)}`;
    return digit === 1n ? power : `${integerText(digit, 20)}·${power}`;
  });
  return [parts.join(" + "), terms.length > TERMS || !isWhole ? " + …" : ""];
}

/** The table of digits: a column for each power of p, the lowest one on the right. */
function drawTable(place, model) {
  const { numbers, work } = place;
  const [N, F] = [model.precision, model.fractionalDigits];
  const lowest = F + Math.min(0, ...numbers.map(({ valuation: v }) => v));
  const columns = Array.from({ length: N - lowest }, (_, i) => N - 1 - i);
  const row = (name, kind, text, mark = () => "") => h("tr", { class: kind }, h("th", { scope: "row" }, name),
    columns.map((k) => h("td", { "data-column": k - lowest, class: `${k === F - 1 ? "point " : ""}${mark(k)}`.trim() || null }, cellText(text(k)))));
  const mine = (number) => row(SYMBOLS[number.symbol] ?? number.symbol, number.symbol, (k) => number.digits[k], periodMark(number, F));
  const carried = (name) => row(name, "carry", (k) => k < work.known ? work.carries[k] : "",
    (k) => work.carries[k] ? "result" : "result none");
  const sums = (name) => row(name, "sum", (k) => k < work.known ? work.sums[k] : "", () => "result");
  const shown = work && !work.problem;
  const result = () => row(SYMBOLS.z, "z", (k) => k < work.known ? work.digits[k] : "?",
    (k) => `result ${k < work.known ? periodMark(numbers[2], F)(k) : ""}`.trim());
  const rows = [];
  if (shown && model.operation === "add") rows.push(carried("carry"));
  if (shown && model.operation === "sub") rows.push(carried("borrow"));
  rows.push(mine(numbers[0]), ...(numbers[1] ? [mine(numbers[1])] : []));
  if (shown && model.operation === "mul") rows.push(sums("Σ aᵢbⱼ"), carried("carry"));
  if (shown && model.operation === "div") rows.push(carried("carry"), sums("left"));
  if (shown) rows.push(result());
  const scroll = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Digits at the prime ${place.p}` },
    h("table", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "power of ", nameOfPrime(place.p)),
        columns.map((k) => h("th", { scope: "col", "data-column": k - lowest, class: k === F - 1 ? "point" : null }, String(k - F).replace("-", "−"))))),
      h("tbody", {}, rows)));
  scroll.addEventListener("scroll", () => countHidden(scroll));
  const more = h("button", { type: "button", class: "more", hidden: "" }, "←");
  more.addEventListener("click", () => scroll.scrollBy({ left: 80 - scroll.clientWidth }));
  return [scroll, more];
}

/** Say how many of the highest digits are out of sight, on the button that scrolls to them. */
function countHidden(scroll) {
  const name = scroll.querySelector("th").getBoundingClientRect();
  const columns = [...scroll.querySelectorAll("thead th[data-column]")]; // the highest first
  const hidden = columns.filter((cell) => cell.getBoundingClientRect().left < name.right - 1).length;
  for (const cell of scroll.querySelectorAll("[data-column]")) cell.classList.toggle("covered", cell.dataset.column >= columns.length - hidden);
  const more = scroll.nextElementSibling;
  scroll.classList.toggle("cut", hidden > 0);
  if (hidden) more.textContent = `← ${hidden} higher digit${hidden === 1 ? "" : "s"}`;
  if (hidden) more.hidden = false;
  more.style.visibility = hidden ? "" : "hidden";
}

/** Where the period stands in a window: its first turn is overlined, the later ones are pale. */
function periodMark({ expansion: { start, before, period } }, F) {
  if (period === null) return () => "";
  const from = F + start + before.length;
  return (k) => k < from ? "" : k < from + period.length ? (period.length === 1 && period[0] === 0n ? "repeats" : "overlined") : "repeats";
}

function drawCheck(place, model) {
  const { work, numbers } = place;
  if (work.problem) return [h("p", { class: "check bad" }, work.problem)];
  const { circled } = OPERATIONS[model.operation];
  const lost = model.precision - work.known;
  return [
    h("p", { class: "step", "aria-live": "polite" }),
    h("p", { class: "check" },
      h("span", { class: work.agrees ? "ok" : "bad" }, work.agrees ? "✓ " : "✗ "),
      `x ${circled} y, digit by digit, ${work.agrees ? "has" : "does not have"} the digits of ${rationalText(numbers[2].q, 20)}`,
      lost ? `; the highest ${lost === 1 ? "digit is" : `${lost} are`} not determined by the digits of x and y.` : "."),
  ];
}

// ---- watching the digits

function prepareSteps(model) {
  const tables = document.querySelectorAll("#places tbody td.result").length;
  byId("steps").hidden = !tables;
  const most = Math.max(...[...document.querySelectorAll("#places th[data-column]")].map((cell) => Number(cell.dataset.column))) + 1;
  Object.assign(byId("step"), { max: most, value: most });
  byId("step").model = model;
  drawStep();
}

/** Show the result's digits as far as the slider says, and in words what happens at the last one. */
function drawStep() {
  const slider = byId("step");
  const step = Number(slider.value);
  const all = step === Number(slider.max);
  byId("step-text").textContent = all ? "all digits" : `${step} digit${step === 1 ? "" : "s"}`;
  for (const cell of document.querySelectorAll("#places [data-column]")) {
    const column = Number(cell.dataset.column);
    const arrives = cell.parentElement.className === "carry" ? column > step : column >= step;
    cell.classList.toggle("later", cell.classList.contains("result") && arrives);
    cell.classList.toggle("now", !all && column === step - 1);
  }
  for (const place of slider.model.places) {
    const line = document.querySelector(`[data-prime="${place.p}"] .step`);
    if (line) line.textContent = all || !step ? "" : describeStep(place, slider.model, step - 1);
  }
}

function describeStep({ p, numbers, work }, { operation, fractionalDigits: F, precision }, column) {
  const k = column + F + Math.min(0, ...numbers.map(({ valuation: v }) => v));
  if (k >= precision) return "";
  const prime = nameOfPrime(p);
  const at = `At ${prime}${superscript(k - F)}: `;
  if (k >= work.known) return `${at}not determined.`;
  const carry = work.carries[k];
  const short = (n) => integerText(n, 20);
  const carryText = carry > 0n ? ` + carry ${short(carry)}` : carry < 0n ? ` − borrow ${short(-carry)}` : "";
  if (operation === "div") {
    return work.sums[k] || k >= F + Math.min(0, numbers[2].valuation)
      ? `${at}${short(work.sums[k])} is left, times ${short(work.unit)}⁻¹ ≡ ${short(work.inverted)} gives ${short(work.digits[k])} (mod ${prime}).` : `${at}0.`;
  }
  const sign = OPERATIONS[operation].sign;
  const left = operation === "mul" ? `products ${short(work.sums[k])}` : `${short(numbers[0].digits[k])} ${sign} ${short(numbers[1].digits[k])}`;
  const total = (operation === "mul" ? work.sums[k] : operation === "add" ? numbers[0].digits[k] + numbers[1].digits[k]
    : numbers[0].digits[k] - numbers[1].digits[k]) + carry;
  const next = (total - work.digits[k]) / p;
  const sum = operation === "mul" && !carry ? left : `${left}${carryText} = ${short(total)}`;
  const passed = next > 0n ? `carry ${short(next)}` : next < 0n ? `borrow ${short(-next)}` : "carry nothing";
  return `${at}${sum}; write ${short(work.digits[k])}, ${passed}.`;
}

function play() {
  if (timer) return stop();
  const slider = byId("step");
  if (slider.value === slider.max) slider.value = 0;
  byId("play").textContent = "Stop";
  timer = setInterval(() => {
    slider.value = Number(slider.value) + 1;
    drawStep();
    if (slider.value === slider.max) stop();
  }, 900);
  return drawStep();
}

function stop() {
  clearInterval(timer);
  timer = null;
  byId("play").textContent = "Play";
}

// ---- decoding

function drawDecoding({ decoded, target, primes, precision, result, fractionalDigits: F }) {
  if (!decoded) return [h("p", {}, "The digits of the result do not fit the window, so there is nothing to decode.")];
  const { modulus, x, height, inReach, candidates, found, more } = decoded;
  const known = result ? `the digits of ${SYMBOLS.z}` : "the digits of x";
  const heightText = (n) => n < 10n ** 15n ? integerText(n) : `about 10${superscript(n.toString().length - 1)}`;
  const scaledBy = F ? ` (of the number times ${primes.length > 1 ? `${F > 1 ? "(" : ""}${primes.map((p) => integerText(p, 20)).join(" · ")}${F > 1 ? ")" : ""}` : integerText(primes[0], 20)}${F > 1 ? superscript(F) : ""}, an integer at each of these primes)` : "";
  const lines = [
    h("p", {}, `By the Chinese remainder theorem, ${known} at all primes are one residue${scaledBy}: `,
      h("span", { class: "digits" }, `${integerText(x, 30)} modulo M = ${integerText(modulus, 30)}`), "."),
  ];
  const list = candidates.slice(0, 3).map((q) => rationalText(q, 20)).join(", ") + (candidates.length > 3 ? ", …" : "");
  const made = candidates.length === 1 ? `one fraction: ${list}` : `${candidates.length} fractions: ${list}`;
  if (inReach) {
    lines.push(h("p", {}, `Rational reconstruction (Euclid's algorithm, stopped halfway) finds ${made}. `,
      candidates.length > 1 ? "The real value chooses between them. " : ""),
    h("p", {}, h("span", { class: "ok" }, "✓ "), "The number is ", h("b", {}, rationalText(found)),
      `, for certain: 2·|n|·m ${height < 10n ** 15n ? "=" : "is"} ${heightText(height)} < M.`));
  } else {
    lines.push(h("p", {}, h("span", { class: "bad" }, "✗ "), `Out of reach: ${rationalText(target, 20)} has 2·|n|·m ${height < 10n ** 15n ? "=" : "of"} ${heightText(height)} ≥ M, `,
      `so other fractions have the same digits. ${candidates.length ? `Rational reconstruction finds ${made}${found ? "" : ", and the real value fits none of them"}.` : "Rational reconstruction finds none that is small enough."}`),
    h("p", {}, `${more} more digit${more === 1 ? "" : "s"} at each prime (${precision + more} in all), or more primes, would do.`));
  }
  if (F) lines.push(h("p", { class: "soft" }, "Here n/m is the number times that integer, in lowest terms."));
  return lines;
}

byId("form").addEventListener("submit", (event) => event.preventDefault());
byId("form").addEventListener("input", show);
byId("form").addEventListener("change", () => writeAddress(entered())); // not at every key: browsers limit how often
byId("step").addEventListener("input", () => { stop(); drawStep(); });
byId("play").addEventListener("click", play);
window.addEventListener("hashchange", readAddress);
window.addEventListener("resize", () => { if (drawingWidth(WIDEST) !== drawnWidth) show(); });
readAddress();

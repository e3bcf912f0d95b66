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
    byId("export").textContent = JSON.stringify({ entered: state, error: error.message }, null, 1);
    return;
  }
  byId("results").classList.remove("stale");
  drawnWidth = drawingWidth(WIDEST);
  Object.assign(SYMBOLS, { z: model.y && `x\u00a0${OPERATIONS[model.operation].sign}\u00a0y` });
  byId("real").replaceChildren(...drawReal(model));
  byId("places").replaceChildren(...model.places.map((place) => drawPlace(place, model)));
  byId("decode").replaceChildren(...drawDecoding(model));
  byId("export").textContent = JSON.stringify(toExport(model, state), null, 1);
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
    numberLine(numbers, drawingWidth(WIDEST)),
  ];
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
  const { prime, numbers, work } = place;
  const N = model.precision;
  const F = model.fractionalDigits;
  return h("section", { class: "card", "aria-labelledby": `place-${prime}`, "data-prime": prime },
    h("h2", { id: `place-${prime}` }, `The prime ${prime}: ℚ${subscript(prime)}`),
    h("ul", { class: "numbers" }, numbers.map((number) => drawNumber(number, place, N, F))),
    drawTable(place, model),
    ...(work ? drawCheck(place, model) : []),
    tree(place, F, drawingWidth()));
}

function drawNumber({ symbol, q, valuation: v, digits, expansion: whole }, { prime, p }, N, F) {
  const text = expansionText(digits, prime, F, whole);
  const longest = LONGEST.toLocaleString("en");
  const repeating = whole.isLate ? `more than ${longest} digits before they repeat`
    : whole.period === null ? `a period longer than ${longest} digits`
    : ends(whole) ? "" : whole.period.length === 1 ? "period 1" : `period ${whole.period.length.toLocaleString("en")}`;
  return h("li", {},
    ...nameOf(symbol), h("span", { class: "digits" }, ...text), h("sub", {}, String(prime)),
    h("span", { class: "facts" },
      `v${subscript(prime)} = ${v === Infinity ? "∞" : String(v).replace("-", "−")}, |${SYMBOLS[symbol] ?? symbol}|${subscript(prime)} = ${absoluteText(v, prime)}`,
      repeating ? `, ${repeating}` : ""),
    h("span", { class: "facts" }, `${rationalText(q, 20)} = `, ...sumText(digits, prime, F, ends(whole, N - F))));
}

/** Whether from p^most on, or from anywhere on, an expansion has zeros alone. */
function ends({ start, before, period }, most = Infinity) {
  return period !== null && period.length === 1 && period[0] === 0n && start + before.length <= most;
}

function digitText(digit, prime) { return prime <= 10 ? String(digit) : `(${digit})`; }

/** An expansion as the paper writes it, highest digit first: 1.2, or with the period overlined, or …54130. */
function expansionText(digits, prime, F, whole) {
  const { start, before, period } = whole;
  const write = (list, from) => list.map((digit, i) => digitText(digit, prime) + (from + i === 0 && start < 0 ? "." : "")).reverse().join("");
  const length = period === null ? Infinity : before.length + period.length;
  if (length > LONGEST_SHOWN) {
    const shown = digits.slice(F + Math.min(start, 0)).slice(0, LONGEST_SHOWN);
    return ["…", write(shown, Math.min(start, 0))];
  }
  // The digit at p^0 is written even where the period begins below it.
  const written = [...before];
  while (start + written.length <= 0 && start < 0) written.push(period[(written.length - before.length) % period.length]);
  const turned = [...period.keys()].map((i) => period[(i + written.length - before.length) % period.length]);
  if (ends(whole)) return [write(written.length ? written : [0n], start)];
  const block = turned.map((digit) => digitText(digit, prime)).reverse().join("");
  return ["…", h("span", { class: "period", "aria-label": `${block} repeating` }, block), write(written, start)];
}

/** c · p^k + …, lowest power first, zeros left out. */
function sumText(digits, prime, F, isWhole) {
  const terms = digits.map((digit, i) => [digit, i - F]).filter(([digit]) => digit);
  if (!terms.length) return [isWhole ? "0" : `a multiple of ${prime}${superscript(digits.length - F)}`];
  const parts = terms.slice(0, TERMS).map(([digit, k]) => {
    if (k === 0) return String(digit);
    const power = k === 1 ? String(prime) : `${prime}${superscript(k)}`;
    return digit === 1n ? power : `${digit}·${power}`;
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
    columns.map((k) => h("td", { "data-column": k - lowest, class: `${k === F - 1 ? "point " : ""}${mark(k)}`.trim() || null }, text(k))));
  const mine = (number) => row(SYMBOLS[number.symbol] ?? number.symbol, number.symbol, (k) => String(number.digits[k]), periodMark(number, F));
  const carried = (name) => row(name, "carry", (k) => k < work.known ? String(work.carries[k]).replace("-", "−") : "",
    (k) => work.carries[k] ? "result" : "result none");
  const sums = (name) => row(name, "sum", (k) => k < work.known ? String(work.sums[k]).replace("-", "−") : "", () => "result");
  const shown = work && !work.problem;
  const result = () => row(SYMBOLS.z, "z", (k) => k < work.known ? String(work.digits[k]) : "?",
    (k) => `result ${k < work.known ? periodMark(numbers[2], F)(k) : ""}`.trim());
  const rows = [];
  if (shown && model.operation === "add") rows.push(carried("carry"));
  if (shown && model.operation === "sub") rows.push(carried("borrow"));
  rows.push(mine(numbers[0]), ...(numbers[1] ? [mine(numbers[1])] : []));
  if (shown && model.operation === "mul") rows.push(sums("Σ aᵢbⱼ"), carried("carry"));
  if (shown && model.operation === "div") rows.push(carried("carry"), sums("left"));
  if (shown) rows.push(result());
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Digits at the prime ${place.prime}` },
    h("table", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "power of ", String(place.prime)),
        columns.map((k) => h("th", { scope: "col", "data-column": k - lowest, class: k === F - 1 ? "point" : null }, String(k - F).replace("-", "−"))))),
      h("tbody", {}, rows)));
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
    const line = document.querySelector(`[data-prime="${place.prime}"] .step`);
    if (line) line.textContent = all || !step ? "" : describeStep(place, slider.model, step - 1);
  }
}

function describeStep({ prime, numbers, work }, { operation, fractionalDigits: F, precision }, column) {
  const k = column + F + Math.min(0, ...numbers.map(({ valuation: v }) => v));
  if (k >= precision) return "";
  const at = `At ${prime}${superscript(k - F)}: `;
  if (k >= work.known) return `${at}not determined.`;
  const carry = work.carries[k];
  const minus = (n) => String(n).replace("-", "−");
  const carryText = carry > 0n ? ` + carry ${carry}` : carry < 0n ? ` − borrow ${-carry}` : "";
  if (operation === "div") {
    return work.sums[k] || k >= F + Math.min(0, numbers[2].valuation)
      ? `${at}${minus(work.sums[k])} is left, times ${work.unit}⁻¹ ≡ ${work.inverted} gives ${work.digits[k]} (mod ${prime}).` : `${at}0.`;
  }
  const sign = OPERATIONS[operation].sign;
  const left = operation === "mul" ? `products ${work.sums[k]}` : `${numbers[0].digits[k]} ${sign} ${numbers[1].digits[k]}`;
  const total = (operation === "mul" ? work.sums[k] : operation === "add" ? numbers[0].digits[k] + numbers[1].digits[k]
    : numbers[0].digits[k] - numbers[1].digits[k]) + carry;
  const next = (total - work.digits[k]) / BigInt(prime);
  const sum = operation === "mul" && !carry ? left : `${left}${carryText} = ${minus(total)}`;
  const passed = next > 0n ? `carry ${next}` : next < 0n ? `borrow ${-next}` : "carry nothing";
  return `${at}${sum}; write ${work.digits[k]}, ${passed}.`;
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
  const scaledBy = F ? ` (of the number times ${primes.length > 1 ? `${F > 1 ? "(" : ""}${primes.join(" · ")}${F > 1 ? ")" : ""}` : primes[0]}${F > 1 ? superscript(F) : ""}, an integer at each of these primes)` : "";
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

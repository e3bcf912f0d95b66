// Drives the page as a user does, by its fields, and leaves what the page then says as JSON in the document.
const report = { cases: [], errors: [], overflow: [], overlaps: [] };
const field = (name) => document.getElementById(name);
const input = (element) => element.dispatchEvent(new Event("input", { bubbles: true }));
const texts = (selector) => [...document.querySelectorAll(selector)].map((element) => element.textContent);

function enter(state) {
  for (const [name, value] of Object.entries(state)) {
    if (name === "operation") document.querySelector(`[value=${value}]`).checked = true;
    else field(name).value = value;
  }
  input(field("x"));
}

/** The pairs of texts of a drawing that overlap, and the texts that leave its card. */
function overlaps(drawing) {
  const card = drawing.closest(".card").getBoundingClientRect();
  const texts = [...drawing.querySelectorAll("text")].map((element) => ({ text: element.textContent, box: element.getBoundingClientRect() }));
  return texts.flatMap(({ text, box }, i) => [
    ...(box.left < card.left || box.right > card.right ? [[text]] : []),
    ...texts.slice(0, i).filter((other) => Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left) > 0.5
      && Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top) > 2).map((other) => [other.text, text]),
  ]);
}

const exported = () => field("export").textContent; // as text: JavaScript would round long digits
const initial = { hash: location.hash, exported: exported() };

report.addresses = [{ ...window.GOOD, operation: "mul" }, { ...window.GOOD, x: "-1", y: "", operation: "add" }].map((state) => {
  enter(state);
  field("x").dispatchEvent(new Event("change", { bubbles: true }));
  return location.hash;
});

// Another address, as a followed link gives it.
history.replaceState(null, "", "#x=-22/7&y=1e-2&operation=div&primes=3,11&precision=5&fractional=2");
dispatchEvent(new HashChangeEvent("hashchange"));
report.linked = exported();

for (const state of window.CASES) {
  enter(state);
  report.cases.push({ exported: exported(), shown: texts("#places .numbers .digits"), checks: texts(".check .ok, .check.bad") });
  if (document.documentElement.scrollWidth > innerWidth) report.overflow.push(state);
  const found = [...document.querySelectorAll("svg")].flatMap(overlaps);
  if (found.length) report.overlaps.push([state, found]);
}

enter(window.HUGE);
report.huge = { exported: exported(), wide: document.documentElement.scrollWidth > innerWidth ? [location.hash] : [...document.querySelectorAll("svg")].flatMap(overlaps) };

for (const state of window.MISTAKES) {
  enter({ ...window.GOOD });
  enter(state);
  report.errors.push({
    messages: Object.fromEntries(["x", "y", "primes", "precision", "fractional"].map((name) => [name, field(`${name}-error`).textContent])),
    invalid: [...document.querySelectorAll("[aria-invalid=true]")].map((element) => element.id),
    stale: field("results").classList.contains("stale"),
  });
}

enter({ ...window.GOOD });
report.steps = [0, 1, 3, 4, Number(field("step").max)].map((step) => {
  field("step").value = step;
  input(field("step"));
  const cells = [...document.querySelectorAll("[data-prime='3'] tr.z td")];
  return { shown: cells.filter((cell) => !cell.classList.contains("later")).length, said: texts(".step") };
});

report.unlabelled = [...document.querySelectorAll("input, button, svg[role], [tabindex], output")]
  .filter((element) => !(element.labels?.length || element.getAttribute("aria-label") || element.textContent.trim()))
  .map((element) => element.outerHTML.slice(0, 80));
document.body.append(h("pre", { id: "report" }, JSON.stringify({ ...report, initial })));

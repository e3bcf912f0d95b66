"use strict";
// The two drawings: the number line, and the tree of Z_p. Both are inline SVG with a text alternative.

const SVG = "http://www.w3.org/2000/svg";
const LEAF = 13; // the least width of a leaf of a tree, of one with parts alone a half more
const TREE_DEPTH = { 2: 4, 3: 3, 5: 2 }; // of whole trees; those of greater primes branch at the numbers alone

/** Make an element: h("p", {class: "soft"}, "text", child, …); null children are left out. */
function h(tag, attributes = {}, ...children) { return fill(document.createElement(tag), attributes, children); }

function svg(tag, attributes = {}, ...children) { return fill(document.createElementNS(SVG, tag), attributes, children); }

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, value);
  element.append(...children.flat().filter((child) => child !== null));
  return element;
}

/** Round tick marks in an interval of floats, as pairs of their value and how many steps it is from 0. */
function ticks(low, high) {
  const step = 10 ** Math.floor(Math.log10((high - low) / 3));
  const width = [5, 2, 1].map((k) => k * step).find((w) => (high - low) / w >= 3);
  const count = Math.floor(high / width) - Math.ceil(low / width) + 1;
  return Array.from({ length: count }, (_, i) => Math.ceil(low / width) + i).map((steps) => [steps * width, steps]);
}

/** The numbers {symbol, q} on a line that 0 is on. Positions are exact quotients, so that any size works. */
function numberLine(numbers, width) {
  const [left, right, y] = [40, width - 40, 62];
  const zero = { n: 0n, m: 1n };
  const sorted = [zero, ...numbers.map(({ q }) => q)].sort(compare);
  const low = sorted[0];
  const span = OPERATIONS.sub.apply(sorted.at(-1), low);
  const place = (q) => span.n ? left + (right - left) * toNumber(OPERATIONS.div.apply(OPERATIONS.sub.apply(q, low), span))
    : (left + right) / 2;
  const [start, end] = [toNumber(low), toNumber(sorted.at(-1))];
  const marks = Number.isFinite(end - start) && end - start > 1e-300 ? ticks(start, end) : [[0, 0]];
  const text = (value) => (Math.abs(value) < 1e6 && Math.abs(value) >= 1e-4 || !value ? String(Number(value.toPrecision(6))) : Number(value.toPrecision(6)).toExponential())
    .replace(/^-/, "−").replace(/e\+?(-?\d+)/, (_, exponent) => `·10${superscript(exponent)}`);
  const position = (value) => end > start ? left + (right - left) * (value - start) / (end - start) : place(zero);
  // As many of the marks have a text as there is room for, that of 0 among them.
  const longest = Math.max(...marks.map(([value]) => textWidth(text(value))));
  const every = marks.length > 1 ? Math.ceil((longest + 6) / (position(marks[1][0]) - position(marks[0][0]))) : 1;
  const rows = { x: 34, y: 16, z: 108 };
  // The line down from y would run through the letter x.
  const aside = numbers.length > 1 && Math.abs(place(numbers[1].q) - place(numbers[0].q)) < 8;
  const leftward = aside && toNumber(numbers[1].q) >= toNumber(numbers[0].q);
  const height = numbers.length > 2 ? 116 : 88;
  return h("figure", {},
    svg("svg", { viewBox: `0 0 ${width} ${height}`, style: `max-width:${width}px`, role: "img",
      "aria-label": `Number line with ${numbers.map(({ symbol, q }) => `${symbol} = ${decimalText(q)}`).join(", ")}` },
    svg("path", { class: "axis", d: `M6 ${y}H${width - 6}m-6 -4l6 4l-6 4` }),
    marks.map(([value]) => svg("path", { class: "axis", d: `M${position(value)} ${y - 4}v8` })),
    numbers.map(({ symbol, q }) => [
      svg("path", { class: symbol, d: `M${place(q)} ${y}V${symbol === "z" ? rows.z - 12 : rows[symbol] + 4}`, fill: "none" }),
      svg("circle", { class: symbol, cx: place(q), cy: y, r: 5 }),
    ]).flat(),
    // Texts come last: their rims keep the lines away.
    marks.filter(([, steps]) => steps % every === 0).map(([value]) => svg("text", { class: "soft", x: position(value), y: y + 20 }, text(value))),
    numbers.map(({ symbol, q }) => svg("text", { class: `${symbol} label`, x: place(q) + (symbol === "x" && aside ? leftward ? -9 : 9 : 0), y: rows[symbol] },
      SYMBOLS[symbol] ?? symbol))));
}

/** Where the numbers sit in the tree of p^start Z_p: from the root one branch per digit, the lowest digit first. */
function tree(place, F, width) {
  const { p, numbers } = place;
  if (p > width / LEAF) return null; // no room for the root's branches
  const prime = Number(p);
  const isWhole = prime in TREE_DEPTH;
  const start = Math.min(0, ...numbers.map(({ valuation: v }) => v));
  let depth = TREE_DEPTH[prime] ?? 2;
  let [paths, leaves] = [[], 0];
  const hasBranches = (node) => node.length < depth && (isWhole || paths.some(({ digits }) => node.every((digit, i) => digit === digits[i])));
  const countLeaves = (node) => {
    if (!hasBranches(node)) return 1;
    return Array.from({ length: prime }, (_, digit) => countLeaves([...node, digit])).reduce((a, b) => a + b);
  };
  for (; depth; depth -= 1) {
    paths = numbers.map(({ symbol, digits }) => ({ symbol, digits: digits.slice(F + start, F + start + depth).map(Number) }))
      .filter(({ digits }) => digits.length === depth);
    leaves = countLeaves([]);
    if (leaves <= width / LEAF / (isWhole || depth === 1 ? 1 : 1.5)) break;
  }
  if (!depth || !paths.length) return null;
  const [top, level] = [10, 52];
  const radius = Math.min(9, 0.45 * width / leaves);
  const across = new Map(); // a node stands above the middle of its leaves
  const spread = (node, first) => {
    let next = first;
    if (!hasBranches(node)) next += 1;
    else for (let digit = 0; digit < prime; digit += 1) next = spread([...node, digit], next);
    across.set(node.join(), width * (first + next) / 2 / leaves);
    return next;
  };
  spread([], 0);
  const point = (digits) => [across.get(digits.join()), top + level * digits.length];
  const branches = [];
  const nodes = [];
  const grow = (digits) => {
    if (digits.length) {
      const [[x0, y0], [x1, y1]] = [point(digits.slice(0, -1)), point(digits)];
      branches.push(`M${x0} ${y0}L${x1} ${y1}`);
      nodes.push(svg("circle", { class: "node", cx: x1, cy: y1, r: radius }),
        svg("text", { class: "digit", x: x1, y: y1 + 0.5 * radius, style: `font-size:${1.4 * radius}px` }, String(digits.at(-1))));
    }
    if (hasBranches(digits)) for (let digit = 0; digit < prime; digit += 1) grow([...digits, digit]);
  };
  grow([]);
  const drawn = paths.map(({ symbol, digits }, i) => {
    const shift = 3.5 * (i - (paths.length - 1) / 2); // paths that run together stay apart by a little
    const points = [...digits, null].map((_, k) => point(digits.slice(0, k)));
    return svg("path", { class: `path ${symbol}`, d: `M${points.map(([a, b]) => `${a + shift} ${b}`).join("L")}` });
  });
  const labels = drawLabels(paths, point, width);
  const ring = start ? `${prime}${superscript(start)}ℤ${subscript(prime)}` : `ℤ${subscript(prime)}`;
  const spoken = paths.map(({ symbol, digits }) => `${symbol}: ${digits.join(", ")}`).join("; ");
  const caption = [`The tree of ${ring}. From the top, each branch is a digit, from the last one to the left`,
    start ? ` (of ${prime}${superscript(start)})` : "", ". Numbers are close if their paths part late.",
    isWhole || depth === 1 ? "" : " Other branches end after a digit here."].join("");
  return h("figure", {},
    svg("svg", { viewBox: `0 0 ${width} ${top + level * depth + 28 + 14 * Math.max(...labels.map(({ row }) => row))}`, style: `max-width:${width}px`, role: "img", "aria-label": `Paths in the tree of ${ring}, digits from the root: ${spoken}` },
      svg("path", { class: "branch", d: branches.join("") }), drawn, nodes, labels.map(({ label }) => label),
      svg("circle", { cx: point([])[0], cy: top, r: 4, fill: "currentColor" })),
    h("figcaption", {}, caption, distanceText(place)));
}

/** About how wide a text of a drawing is. */
function textWidth(text) { return 8 * text.length; }

/** Under each leaf, the numbers that end there: {label, row}; where the next one leaves no room, a row further down. */
function drawLabels(paths, point, width) {
  const leaves = new Map();
  for (const { symbol, digits } of paths) {
    const leaf = digits.join();
    leaves.set(leaf, { digits, symbols: [...leaves.get(leaf)?.symbols ?? [], symbol] });
  }
  const sorted = [...leaves.values()].map((leaf) => ({ ...leaf, at: point(leaf.digits) })).sort((a, b) => a.at[0] - b.at[0]);
  const ends = [-Infinity, -Infinity, -Infinity]; // of the rows
  return sorted.map(({ symbols, at: [leaf, y] }) => {
    const names = symbols.flatMap((symbol, i) => [i ? ", " : null, svg("tspan", { class: symbol }, SYMBOLS[symbol] ?? symbol)]);
    const half = textWidth(symbols.map((symbol) => SYMBOLS[symbol] ?? symbol).join(", ")) / 2;
    const x = Math.max(half - 8, Math.min(width + 8 - half, leaf));
    const row = ends.findIndex((end) => end <= x - half);
    ends[row] = x + half;
    return { row, label: svg("text", { class: "label", x, y: y + 24 + 14 * row }, names) };
  });
}

/** How far x and y are apart at a prime. */
function distanceText({ p, numbers }) {
  if (numbers.length < 2) return "";
  const v = valuation(OPERATIONS.sub.apply(numbers[0].q, numbers[1].q), p);
  return v === Infinity ? " Here x = y."
    : [" Here ", h("span", { class: "formula" }, `|x − y|${subscript(p)} = ${absoluteText(v, String(p))}`), "."];
}

function superscript(k) { return String(k).replace(/[-\d]/g, (c) => c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]); }

function subscript(k) { return String(k).replace(/[\dp]/g, (c) => "₀₁₂₃₄₅₆₇₈₉"[c] ?? "ₚ"); }

/** |q|_p = p^(−v). */
function absoluteText(v, prime) {
  if (v === Infinity) return "0";
  const size = prime === "p" ? Infinity : BigInt(prime) ** BigInt(Math.abs(v));
  const text = !v ? "1" : size < 10n ** 12n ? String(size) : Math.abs(v) === 1 ? prime : `${prime}${superscript(Math.abs(v))}`;
  return v > 0 ? `1/${text}` : text;
}

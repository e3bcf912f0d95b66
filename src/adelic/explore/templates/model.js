"use strict";
// From what is entered to all that the page shows, as one object. The page draws it, and exports it as JSON.

const MAX_PRECISION = 200;
const MAX_PRIMES = 24;

function parseWhole(text, field, name, low, high) {
  const value = /^\s*\d{1,15}\s*$/.test(text) ? Number(text) : NaN;
  if (!(low <= value && value <= high)) {
    throw new InputError(field, `${name} is a whole number from ${low} to ${high}, not “${shortText(text)}”`);
  }
  return value;
}

function parsePrimes(text) {
  const primes = text.split(/[\s,;]+/).filter(Boolean).map((part) => {
    if (/^\d+$/.test(part) && part.length > LONGEST_PRIME) {
      throw new InputError("primes", `${shortText(part)} is longer than ${LONGEST_PRIME} figures`);
    }
    if (!/^\d+$/.test(part) || !isPrime(BigInt(part))) throw new InputError("primes", `${shortText(part)} is not a prime`);
    return BigInt(part);
  });
  if (!primes.length) throw new InputError("primes", "name at least one prime, such as 2, 3, 5, 7");
  if (primes.length > MAX_PRIMES) throw new InputError("primes", `at most ${MAX_PRIMES} primes fit the page`);
  const repeated = primes.find((p, i) => primes.indexOf(p) < i);
  if (repeated) throw new InputError("primes", `the prime ${repeated} is named twice`);
  return primes;
}

/** The number of fractional digits: as entered, or the smallest that holds all numbers at all primes. */
function chooseFractionalDigits(text, precision, primes, numbers, given) {
  const needs = primes.map((p) => numbers.map((q) => integerValuation(q.m, p)));
  const needed = Math.max(...needs.flat());
  if (!text.trim()) {
    if (needed < precision) return needed;
    throw new InputError("precision", `the digits after the point alone are ${needed}; ${needed + 1} digits would do`);
  }
  const F = parseWhole(text, "fractional", "the number of digits after the point", 0, precision - 1);
  for (const [i, p] of primes.entries()) {
    const j = needs[i].findIndex((e, k) => e > F && k < given);
    if (j >= 0) {
      throw new InputError("fractional", `${rationalText(numbers[j])} has ${p}-adic valuation −${needs[i][j]}: `
        + `${needs[i][j]} digits after the point would hold it, or leave this empty`);
    }
  }
  return F;
}

/** Everything about the entered texts {x, y, operation, primes, precision, fractional}; throws InputError. */
function explore(entered) {
  const x = parseNumber(entered.x, "x");
  const y = entered.y.trim() ? parseNumber(entered.y, "y") : null;
  const operation = y ? entered.operation : null;
  if (operation === "div" && !y.n) throw new InputError("y", "nothing can be divided by 0");
  const result = y ? OPERATIONS[operation].apply(x, y) : null;
  const primes = parsePrimes(entered.primes);
  const precision = parseWhole(entered.precision, "precision", "the number of digits", 1, MAX_PRECISION);
  const numbers = y ? [x, y, result] : [x];
  const F = chooseFractionalDigits(entered.fractional, precision, primes, numbers, y ? 2 : 1);
  const places = primes.map((p) => explorePlace(p, precision, F, x, y, operation, result))
    .map((place) => ({ ...place, functions: functionsOf(result ?? x, place.p, precision, F) }));
  const failed = places.some((place) => place.work?.problem);
  const windows = places.map((place) => place.work ?? { digits: place.numbers[0].digits, known: precision });
  const target = result ?? x;
  const decoded = failed ? null : decode(windows, primes, F, target);
  return { x, y, operation, result, primes, precision, fractionalDigits: F, places, target, decoded };
}

function explorePlace(p, N, F, x, y, operation, result) {
  const describe = (symbol, q) => ({ symbol, q, valuation: valuation(q, p), digits: windowDigits(q, p, N, F),
    expansion: expansion(q, p) });
  const numbers = [describe("x", x)];
  const place = { p, numbers, work: null };
  if (!y) return place;
  numbers.push(describe("y", y));
  try {
    place.work = DIGITWISE[operation](numbers[0].digits, numbers[1].digits, p, N, F);
  } catch (error) {
    if (error instanceof BelowWindow) {
      place.work = { problem: `The ${OPERATIONS[operation].name} has digits below the window: `
        + `${error.needed} digits after the point would hold it.` };
    } else if (error instanceof NothingKnown) {
      place.work = { problem: `The digits of x and y determine no digit of the ${OPERATIONS[operation].name}.` };
    } else throw error;
    return place;
  }
  numbers.push(describe("z", result));
  place.work.agrees = place.work.digits.every((digit, k) => digit === numbers[2].digits[k]);
  return place;
}

/** The model as plain JSON: numbers as text, digits most significant first, as adelic writes them. */
function toExport(model, entered) {
  const list = (digits) => [...digits].reverse();
  const number = ({ q, valuation: v, digits, expansion: { start, before, period } }) => ({
    number: plainText(q), valuation: Number.isFinite(v) ? v : null, digits: list(digits),
    period: period && list(period), starts_repeating_at: period && start + before.length,
  });
  const { decoded } = model;
  return {
    entered,
    primes: model.primes, precision: model.precision, fractional_digits: model.fractionalDigits,
    x: plainText(model.x), y: model.y && plainText(model.y),
    operation: model.operation, result: model.result && plainText(model.result),
    real: [model.x, model.y, model.result].filter(Boolean).map(toNumber),
    places: model.places.map(({ p, numbers, work, functions }) => ({
      prime: p,
      numbers: numbers.map(number),
      digitwise: work && (work.problem ? { problem: work.problem } : {
        digits: list(work.digits), known: work.known, carries: list(work.carries), agrees: work.agrees,
      }),
      functions: Object.fromEntries(functions.map(({ name, windows, problem }) => [name, windows ? windows.map(list) : { problem }])),
    })),
    decoded: decoded && { modulus: decoded.modulus.toString(), residue: decoded.x.toString(),
      candidates: decoded.candidates.map(plainText), in_reach: decoded.inReach,
      number: decoded.inReach ? plainText(decoded.found) : null, digits_missing: decoded.more },
  };
}

/** As JSON, in which BigInts are numbers with all their figures. */
function jsonText(value) {
  const mark = "\ue000";
  return JSON.stringify(value, (_, part) => typeof part === "bigint" ? mark + part : part, 1).replaceAll(RegExp(`"${mark}(-?\\d+)"`, "g"), "$1");
}

function plainText(q) { return q.m === 1n ? q.n.toString() : `${q.n}/${q.m}`; }

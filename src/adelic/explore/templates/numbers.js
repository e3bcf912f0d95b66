"use strict";
// Exact rational numbers {n, m}: BigInt, m > 0, in lowest terms. Nothing here knows of the page.

const MAX_EXPONENT = 100000;
const DECIMALS = 40;

/** What was entered cannot be used; `field` is the id of the input that holds it. */
class InputError extends Error {
  constructor(field, message) {
    super(message);
    this.field = field;
  }
}

function abs(a) { return a < 0n ? -a : a; }

function gcd(a, b) {
  a = abs(a);
  b = abs(b);
  while (b) [a, b] = [b, a % b];
  return a;
}

/** The remainder in 0 … m − 1, also of negative numbers. */
function modulo(a, m) { return ((a % m) + m) % m; }

/** a^e modulo m, e from 0 on. */
function power(a, e, m) {
  let result = 1n % m;
  for (a = modulo(a, m); e; e >>= 1n) {
    if (e & 1n) result = result * a % m;
    a = a * a % m;
  }
  return result;
}

function rational(n, m = 1n) {
  const divisor = m < 0n ? -gcd(n, m) : gcd(n, m);
  return { n: n / divisor, m: m / divisor };
}

const OPERATIONS = {
  add: { sign: "+", circled: "⊕", name: "sum", apply: (x, y) => rational(x.n * y.m + y.n * x.m, x.m * y.m) },
  sub: { sign: "−", circled: "⊖", name: "difference", apply: (x, y) => rational(x.n * y.m - y.n * x.m, x.m * y.m) },
  mul: { sign: "×", circled: "⊗", name: "product", apply: (x, y) => rational(x.n * y.n, x.m * y.m) },
  div: { sign: "÷", circled: "⊘", name: "quotient", apply: (x, y) => rational(x.n * y.m, x.m * y.n) },
};

/** Negative, 0 or positive, as sort() wants it. */
function compare(x, y) {
  const difference = x.n * y.m - y.n * x.m;
  return Number(difference > 0n) - Number(difference < 0n);
}

/** Read the texts that adelic reads: 7/5, -3, 1.25, 1e-3, 1_000. */
function parseNumber(text, field) {
  const plain = text.replace(/\u2212/g, "-");
  const match = /^\s*([+-]?)(\d(?:_?\d)*)?(?:\.((?:\d(?:_?\d)*)?))?(?:e([+-]?\d+))?(?:\s*\/\s*(\d(?:_?\d)*))?\s*$/i.exec(plain);
  const [, sign, whole = "", decimals, exponent, denominator] = match ?? [];
  if (!match || !(whole || decimals) || (denominator && (decimals !== undefined || exponent))) {
    throw new InputError(field, `“${shortText(text)}” is not a number; write 7/5, -3, 1.25 or 1e-3`);
  }
  const power = Number(exponent ?? 0);
  if (Math.abs(power) > MAX_EXPONENT) {
    throw new InputError(field, `the exponent of ${shortText(text)} is beyond ±${MAX_EXPONENT}`);
  }
  const digits = (part) => part.replaceAll("_", "");
  const after = digits(decimals ?? "");
  const n = BigInt(sign + "1") * BigInt(digits(whole) + after || "0");
  if (denominator) {
    const m = BigInt(digits(denominator));
    if (!m) throw new InputError(field, `${shortText(text)} has denominator zero`);
    return rational(n, m);
  }
  const scale = power - after.length;
  return scale < 0 ? rational(n, 10n ** BigInt(-scale)) : rational(n * 10n ** BigInt(scale));
}

function shortText(text, longest = 40) {
  return text.length <= longest ? text : `${text.slice(0, 12)}…${text.slice(-4)} (${text.length} characters)`;
}

function integerText(n, longest = 40) {
  const digits = abs(n).toString();
  const sign = n < 0n ? "−" : "";
  return digits.length <= longest ? sign + digits
    : `${sign}${digits.slice(0, 7)}…${digits.slice(-3)} (${digits.length.toLocaleString("en")} digits)`;
}

function rationalText(q, longest = 40) {
  return q.m === 1n ? integerText(q.n, longest) : `${integerText(q.n, longest)}/${integerText(q.m, longest)}`;
}

/** The significant digits and the decimal exponent of |q|, q not 0; `exact` tells whether nothing was cut off. */
function significantDigits(q, count) {
  const n = abs(q.n);
  let exponent = n.toString().length - q.m.toString().length;
  const scaled = (e) => {
    const shift = count - 1 - e;
    return shift >= 0 ? [n * 10n ** BigInt(shift), q.m] : [n, q.m * 10n ** BigInt(-shift)];
  };
  let [top, bottom] = scaled(exponent);
  let digits = (top / bottom).toString();
  if (digits.length < count) {
    exponent -= 1;
    [top, bottom] = scaled(exponent);
    digits = (top / bottom).toString();
  }
  return { digits, exponent, exact: top % bottom === 0n };
}

/** The nearest float64. */
function toNumber(q) {
  if (!q.n) return 0;
  const { digits, exponent, exact } = significantDigits(q, DECIMALS);
  // A last digit 1 stands for all that was cut off, so that halfway cases round as they should.
  return Number(`${q.n < 0n ? "-" : ""}${digits[0]}.${digits.slice(1)}${exact ? "" : "1"}e${exponent}`);
}

/** The decimal expansion: whole part, digits before the period, period; null for the period where it is too long. */
function decimalExpansion(q) {
  const n = abs(q.n);
  let remainder = n % q.m;
  const seen = new Map();
  const digits = [];
  while (remainder && !seen.has(remainder) && digits.length < DECIMALS) {
    seen.set(remainder, digits.length);
    digits.push((remainder * 10n / q.m).toString());
    remainder = remainder * 10n % q.m;
  }
  const start = remainder ? seen.get(remainder) : digits.length;
  return {
    sign: q.n < 0n ? "−" : "",
    whole: n / q.m,
    before: digits.slice(0, start ?? digits.length).join(""),
    period: start === undefined ? null : digits.slice(start).join(""),
  };
}

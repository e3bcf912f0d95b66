"use strict";
// p-adic digits, lowest first, as adelic.numbers.hensel defines them: a window holds the digits of p^(-F) … p^(N-F-1).
// BigInt throughout: primes of any size, and digits with them.

const LONGEST = 2000;
const LONGEST_PRIME = 100;
const GREATEST_PROVEN = 3317044064679887385961981n;
const BASES = [2n, 3n, 5n, 7n, 11n, 13n, 17n, 19n, 23n, 29n, 31n, 37n, 41n];

/** A digit below the window is not zero; `needed` fractional digits would hold it. */
class BelowWindow extends Error {
  constructor(needed) {
    super(`below the window; ${needed} fractional digits would hold it`);
    this.needed = needed;
  }
}

/** The digits of the arguments determine no digit of the result. */
class NothingKnown extends Error {}

/**
 * Whether p is prime: the Miller–Rabin test with the first 13 primes, which proves it below 3.3 · 10^24 (OEIS A014233),
 * and above a strong Lucas test besides: no composite number is known that passes both (Baillie, Wagstaff 1980).
 */
function isPrime(p) {
  if (p < 2n || BASES.some((base) => p % base === 0n)) return BASES.includes(p);
  const twos = integerValuation(p - 1n, 2n);
  const passes = (base) => {
    let x = power(base, (p - 1n) >> BigInt(twos), p);
    if (x === 1n) return true;
    for (let i = 0; i < twos; i += 1) {
      if (x === p - 1n) return true;
      x = x * x % p;
    }
    return false;
  };
  return BASES.every(passes) && (p < GREATEST_PROVEN || passesLucas(p));
}

/** The Jacobi symbol of a at an odd n. */
function jacobi(a, n) {
  let symbol = 1;
  for (a = modulo(a, n); a; [a, n] = [n % a, a]) {
    for (; a % 2n === 0n; a /= 2n) if ([3n, 5n].includes(n % 8n)) symbol = -symbol;
    if (a % 4n === 3n && n % 4n === 3n) symbol = -symbol;
  }
  return n === 1n ? symbol : 0;
}

/** Whether an odd n, no square, divides U_(n + 1) of Lucas, with the parameters of J. Selfridge. */
function passesLucas(n) {
  let root = 1n << BigInt(4 * n.toString(16).length);
  for (let next = (root + n / root) / 2n; next < root; next = (root + n / root) / 2n) root = next;
  if (root * root === n) return false;
  let d = 5n;
  while (jacobi(d, n) === 1) d = d > 0n ? -d - 2n : -d + 2n;
  if (!jacobi(d, n)) return false;
  const [half, q] = [(n + 1n) / 2n, (1n - d) / 4n];
  let [u, v, qk] = [1n, 1n, q]; // U_k, V_k and q^k
  for (const bit of (n + 1n).toString(2).slice(1)) {
    [u, v, qk] = [u * v % n, modulo(v * v - 2n * qk, n), qk * qk % n];
    if (bit === "1") [u, v, qk] = [modulo((u + v) * half, n), modulo((d * u + v) * half, n), qk * q % n];
  }
  return u === 0n;
}

/** The largest k with p^k dividing n, n not 0. */
function integerValuation(n, p) {
  let k = 0;
  for (; n % p === 0n; n /= p) k += 1;
  return k;
}

/** v_p(q); Infinity for 0. */
function valuation(q, p) {
  return q.n ? integerValuation(q.n, p) - integerValuation(q.m, p) : Infinity;
}

/** a^(-1) modulo m, a and m coprime. */
function inverse(a, m) {
  let [r0, r1, t0, t1] = [m, modulo(a, m), 0n, 1n];
  while (r1) {
    const quotient = r0 / r1;
    [r0, r1, t0, t1] = [r1, r0 - quotient * r1, t1, t0 - quotient * t1];
  }
  return modulo(t0, m);
}

/** Hensel lifting: the digit c = n · m^(-1) mod p, then n becomes (n − c·m) / p. Yields the digit and the next n. */
function* henselSteps(n, m, p) {
  const inverted = inverse(m, p);
  for (;;) {
    const digit = modulo((n % p) * inverted, p);
    n = (n - digit * m) / p;
    yield [digit, n];
  }
}

/** The digits of q in the window of N digits, F of them below p^0. */
function windowDigits(q, p, N, F) {
  const e = integerValuation(q.m, p);
  if (e > F) throw new BelowWindow(e);
  const digits = Array(Math.min(F - e, N)).fill(0n);
  if (digits.length === N) return digits;
  for (const [digit] of henselSteps(q.n, q.m / p ** BigInt(e), p)) {
    digits.push(digit);
    if (digits.length === N) return digits;
  }
}

/**
 * The whole expansion: digits from p^start on, then for ever `period`. Where one of them is longer than LONGEST the
 * period is null, and `isLate` says whether it was the digits before it. Once n lies in −m … 0 it stays there, and there
 * one step is a bijection: from then on the digits repeat.
 */
function expansion(q, p) {
  const e = integerValuation(q.m, p);
  const m = q.m / p ** BigInt(e);
  const result = { start: -e, before: [], period: [] };
  let first = -m <= q.n && q.n <= 0n ? q.n : null;
  for (const [digit, n] of henselSteps(q.n, m, p)) {
    const part = first === null ? result.before : result.period;
    part.push(digit);
    if (n === first) return result;
    if (part.length >= LONGEST) return { start: -e, before: [], period: null, isLate: first === null };
    if (first === null && -m <= n && n <= 0n) first = n;
  }
}

/** How many of the lowest digits are zero; all of them where nothing else is known. */
function leadingZeros(digits) {
  const found = digits.findIndex((digit) => digit);
  return found < 0 ? digits.length : found;
}

// Each operation returns digits, known (how many of the window are determined) and rows: what is written down on the
// way, digit by digit. `carries[k]` arrives at digit k.

function addDigits(a, b, p, sign = 1n) {
  const digits = [];
  const carries = [];
  let carry = 0n;
  for (let k = 0; k < a.length; k += 1) {
    carries.push(carry);
    const total = a[k] + sign * b[k] + carry;
    digits.push(modulo(total, p));
    carry = (total - digits[k]) / p;
  }
  return { digits, known: a.length, carries };
}

/** Column k of the product: the sum of a_i · b_j with i + j = k + F, and what is carried to it. */
function multiplyDigits(a, b, p, N, F) {
  const [v, w] = [leadingZeros(a), leadingZeros(b)];
  const known = Math.min(v + N, w + N, N + F) - F;
  if (v < N && w < N && v + w < F) throw new BelowWindow(2 * F - v - w);
  if (known <= 0) throw new NothingKnown();
  const [digits, carries, sums] = [[], [], []];
  let carry = 0n;
  for (let k = 0; k < known; k += 1) {
    let sum = 0n;
    for (let i = Math.max(0, k + F - N + 1); i <= Math.min(N - 1, k + F); i += 1) sum += a[i] * b[k + F - i];
    sums.push(sum);
    carries.push(carry);
    digits.push(modulo(sum + carry, p));
    carry = (sum + carry - digits[k]) / p;
  }
  return { digits, known, carries, sums };
}

/** Long division from the lowest digit: each digit makes the lowest one that is left of x vanish. */
function divideDigits(a, b, p, N, F) {
  const [v, w] = [leadingZeros(a), leadingZeros(b)];
  if (w === N) throw new NothingKnown();
  const shift = F + v - w;
  const known = Math.min(N, shift + Math.min(N - v, N - w));
  if (v < N && shift < 0) throw new BelowWindow(w - v);
  if (known <= 0) throw new NothingKnown();
  const unit = b[w];
  const inverted = inverse(unit, p);
  const zeros = Math.min(Math.max(shift, 0), known);
  const [digits, carries, sums] = [Array(zeros).fill(0n), Array(zeros).fill(0n), Array(zeros).fill(0n)];
  let carry = 0n;
  for (let k = 0; zeros + k < known; k += 1) {
    let left = a[v + k] + carry;
    for (let j = 1; j <= k; j += 1) left -= b[w + j] * digits[zeros + k - j];
    const digit = modulo(left * inverted, p);
    digits.push(digit);
    sums.push(left);
    carries.push(carry);
    carry = (left - unit * digit) / p;
  }
  return { digits, known, carries, sums, unit, inverted };
}

const DIGITWISE = {
  add: (a, b, p) => addDigits(a, b, p),
  sub: (a, b, p) => addDigits(a, b, p, -1n),
  mul: multiplyDigits,
  div: divideDigits,
};

/** The x in [0, ∏ moduli) with these remainders. */
function chineseRemainder(values, moduli) {
  let [x, product] = [0n, 1n];
  values.forEach((value, i) => {
    x += product * modulo((value - x) * inverse(product, moduli[i]), moduli[i]);
    product *= moduli[i];
  });
  return x;
}

/** Every n/m ≡ x (mod modulus) with 2·|n|·m < modulus in lowest terms, m prime to the modulus. */
function rationalCandidates(x, modulus) {
  const found = [];
  let [r0, r1, t0, t1] = [modulus, x, 0n, 1n];
  for (;;) {
    const m = abs(t1);
    if (2n * r1 * m < modulus && gcd(r1, m) === 1n && gcd(m, modulus) === 1n) found.push({ n: t1 < 0n ? -r1 : r1, m });
    if (!r1) return found;
    const quotient = r0 / r1;
    [r0, r1, t0, t1] = [r1, r0 - quotient * r1, t1, t0 - quotient * t1];
  }
}

/** Whether two numbers agree to twelve decimal figures. */
function agrees(q, real) {
  return abs(q.n * real.m - real.n * q.m) * 10n ** 12n <= abs(real.n) * q.m;
}

/**
 * Find the number from its digits (windows with `known` digits at each prime) and from a rough real value.
 *
 * `inReach` says whether 2·|n'|·m' < M, n'/m' = q · ∏ p^F in lowest terms, which makes sure that `found` is q; where it
 * does not hold, `more` is how many further digits a prime would do.
 */
function decode(windows, primes, F, q) {
  const product = primes.reduce((a, p) => a * p, 1n);
  const scale = product ** BigInt(F);
  const moduli = windows.map((window, i) => primes[i] ** BigInt(window.known));
  const modulus = moduli.reduce((a, b) => a * b, 1n);
  const residues = windows.map((window, i) => {
    const value = window.digits.slice(0, window.known).reduceRight((a, digit) => a * primes[i] + digit, 0n);
    return value * (scale / primes[i] ** BigInt(F));
  });
  const x = chineseRemainder(residues, moduli);
  const scaled = rational(q.n * scale, q.m);
  const height = 2n * abs(scaled.n) * scaled.m;
  const candidates = rationalCandidates(x, modulus).map(({ n, m }) => rational(n, m * scale));
  const inReach = height < modulus;
  return { modulus, x, height, inReach, candidates, found: candidates.find((c) => agrees(c, q)) ?? null,
    more: inReach ? 0 : missingDigits(height, modulus, product) };
}

/** The smallest k with modulus · product^k > height. */
function missingDigits(height, modulus, product) {
  const bits = (n) => 4 * n.toString(16).length; // to within 4
  let k = Math.max(0, Math.floor((bits(height) - bits(modulus) - 8) / Math.log2(Number(product))));
  for (let reached = modulus * product ** BigInt(k); reached <= height; reached *= product) k += 1;
  return k;
}

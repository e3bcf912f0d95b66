"use strict";
// Roots, exponential and logarithm of a rational number in Q_p: windows of digits, as those of adelic.padic.

/** A function has no value; the message says why. */
class Undefined extends Error {}

/** The digits of p^v · r in the window, r a p-adic integer that is known far enough. */
function windowOf(r, v, p, N, F) {
  let rest = modulo(r * p ** BigInt(v + F), p ** BigInt(N));
  return Array.from({ length: N }, () => {
    const digit = rest % p;
    rest /= p;
    return digit;
  });
}

/** v and the unit part u of q = p^v · u, modulo p^count; q not 0. */
function unitPart(q, p, count) {
  const without = (n) => n / p ** BigInt(integerValuation(n, p));
  const modulus = p ** BigInt(count);
  return [valuation(q, p), modulo(without(q.n) * inverse(without(q.m), modulus), modulus)];
}

/**
 * The roots of order l of a unit modulo p, l another prime.
 *
 * L. Adleman, K. Manders, G. Miller (1977); for l = 2 it is the algorithm of Tonelli and Shanks.
 */
function rootsModulo(u, l, p) {
  let [t, s] = [p - 1n, 0n]; // p − 1 = t · l^s
  for (; t % l === 0n; t /= l) s += 1n;
  const root = power(u, inverse(l, t), p);
  if (!s) return [root];
  const isPower = (a) => power(a, (p - 1n) / l, p) === 1n;
  if (!isPower(u)) return [];
  let z = 2n;
  while (isPower(z)) z += 1n;
  const generator = power(z, t, p); // of the elements whose order is a power of l
  const ofOrder = power(generator, l ** (s - 1n), p); // of order l
  const rest = u * inverse(power(root, l, p), p) % p; // = generator^k, digit by digit of k to base l
  let k = 0n;
  for (let i = 0n; i < s; i += 1n) {
    const left = power(rest * inverse(power(generator, k, p), p) % p, l ** (s - 1n - i), p);
    let digit = 0n;
    while (power(ofOrder, digit, p) !== left) digit += 1n;
    k += digit * l ** i;
  }
  const first = root * power(generator, k / l, p) % p;
  return Array.from({ length: Number(l) }, (_, j) => first * power(ofOrder, BigInt(j), p) % p);
}

/** All roots of order l, 2 or 3, as windows; the one with the least digits first. By Newton's method. */
function rootWindows(q, l, p, N, F) {
  if (!q.n) return [Array(N).fill(0n)];
  const order = Number(l);
  const name = order === 2 ? "square" : "cube";
  const v = valuation(q, p);
  if (v % order) throw new Undefined(`none, since its valuation ${integerText(BigInt(v))} is not divisible by ${order}`);
  const count = Math.max(3, N - F - v / order + 2);
  const [, u] = unitPart(q, p, count);
  const modulus = p ** BigInt(count);
  const isOwn = p === l; // then the derivative is divisible by p: the first digits are searched
  const starts = isOwn ? Array.from({ length: order ** 2 }, (_, r) => BigInt(r)).filter((r) => r % p && modulo(r ** l - u, p ** 3n) === 0n)
    : rootsModulo(u % p, l, p);
  const base = isOwn ? p ** (order === 2 ? 3n : 2n) : p;
  if (!starts.length) throw new Undefined(`none, since its unit part, ${integerText(u % base, 20)} modulo ${base < 10n ** 10n ? base : "p"}, is no ${name}`);
  return starts.sort((a, b) => Number(a > b) - Number(a < b)).map((start) => {
    let r = start;
    for (let known = isOwn ? 2 : 1; known < count; known = isOwn ? 2 * known - 1 : 2 * known) {
      const slope = r ** (l - 1n);
      r = modulo(r - (isOwn ? (r ** l - u) / l * inverse(slope, modulus) : (r ** l - u) * inverse(l * slope, modulus)), modulus);
    }
    return windowOf(r, v / order, p, N, F);
  });
}

/** log q with log p = 0, Iwasawa's choice: the series of log at u^(p − 1) or, if p = 2, u². */
function logWindow(q, p, N, F) {
  if (!q.n) throw new Undefined("0 has no logarithm");
  const exponent = p === 2n ? 2n : p - 1n;
  const [least, digits] = [p === 2n ? 3 : 1, N - F + 1];
  let terms = 1; // from then on they are 0 modulo p^digits: v(j) is at most the logarithm of j to base 2
  while (terms * least - Math.log2(terms) < digits) terms += 1;
  const lost = BigInt(Math.ceil(Math.log2(terms + 1)));
  const modulus = p ** (BigInt(digits) + lost);
  const [, u] = unitPart(q, p, digits + Number(lost));
  const t = modulo(power(u, exponent, modulus) - 1n, modulus);
  let [sum, tj] = [0n, 1n];
  for (let j = 1n; j <= terms; j += 1n) {
    tj = tj * t % modulus;
    const divisor = p ** BigInt(integerValuation(j, p));
    sum += (j % 2n ? 1n : -1n) * (tj / divisor) * inverse(j / divisor, modulus);
  }
  return windowOf(p === 2n ? sum / 2n : sum * inverse(exponent, modulus), 0, p, N, F);
}

/** exp q = Σ q^j / j!, which converges from v = 1 on, or 2 if p = 2. */
function expWindow(q, p, N, F) {
  const [v, least, digits] = [valuation(q, p), p === 2n ? 2 : 1, N - F];
  if (v < least) throw new Undefined(`diverges, since its valuation is below ${least}`);
  let terms = 1;
  if (q.n) while (terms * v - (terms - 1) / (Number(p) - 1) < digits) terms += 1;
  let factorial = 1n;
  for (let j = 2n; j <= terms; j += 1n) factorial *= j;
  const lost = integerValuation(factorial, p);
  const modulus = p ** BigInt(digits + lost);
  const x = modulo(q.n * inverse(q.m, modulus), modulus);
  let [sum, falling] = [1n, 1n]; // Σ x^j · terms!/j!, from the last term
  for (let j = BigInt(terms); j > 0n; j -= 1n) {
    falling *= j;
    sum = (sum * x + falling) % modulus;
  }
  const divisor = p ** BigInt(lost);
  return windowOf(sum / divisor * inverse(factorial / divisor, modulus), 0, p, N, F);
}

/** What the page shows of each: {name, windows} or {name, problem}. */
function functionsOf(q, p, N, F) {
  if (valuation(q, p) < -F) return [];
  const of = { sqrt: () => rootWindows(q, 2n, p, N, F), cbrt: () => rootWindows(q, 3n, p, N, F),
    exp: () => [expWindow(q, p, N, F)], log: () => [logWindow(q, p, N, F)] };
  return Object.entries(of).map(([name, compute]) => {
    try {
      return { name, windows: compute() };
    } catch (error) {
      if (!(error instanceof Undefined)) throw error;
      return { name, problem: error.message };
    }
  });
}

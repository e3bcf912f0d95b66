"""Compiled single-thread kernels of the encoder on the CPU: dropout, layer norm, ReLU, softmax, each in one pass.

Dropout draws no random numbers one after the other. Whether element i of a site is kept is a hash of (key of the site,
i), so masks are a function of seed and place alone, however a batch is split, and cost a tenth of a generator's.
The hash is "lowbias32" (https://nullprogram.com/blog/2018/07/31/), twice, with half of the key before and half between.

Everywhere: arrays are C-contiguous, float32 unless said otherwise; `first` is the number of elements of the site that
earlier parts of the batch hold; `threshold` is p·2^32; `scale` is 1/(1 − p). NaN and infinity go through.
Only `adelic.nn.kernels.fused` calls this module, and imports it when first needed, since numba takes long to load.
"""

from typing import Any

import numpy as np

from adelic.numbers.kernels import Array, njit

Arrays = tuple[Array, Array, Array, Array]
# Sums may be reordered, which vectorizes them; that numbers are finite must not be assumed.
_SUMS = {"reassoc", "contract", "nsz"}
# That of torch.nn.LayerNorm.
_EPSILON = np.float32(1e-5)
# ln 2 in two parts (Cody and Waite): n times the high one is exact, so r = z − n·ln 2 keeps its digits.
_LOG2E, _LN2_HIGH, _LN2_LOW = np.float32(1.44269504), np.float32(0.693359375), np.float32(-2.12194440e-4)


@njit(inline="always")
def _hash(counter: Any, key: Any) -> Any:
    """Return 32 random bits for a counter."""
    h = np.uint32(counter + np.uint32(key))
    for other in (np.uint32(key >> np.uint64(32)), np.uint32(0)):
        h = np.uint32(np.uint32(h ^ (h >> np.uint32(16))) * np.uint32(0x7FEB352D))
        h = np.uint32(np.uint32(h ^ (h >> np.uint32(15))) * np.uint32(0x846CA68B))
        h = np.uint32(h ^ (h >> np.uint32(16)) ^ other)
    return h


@njit(cache=True, nogil=True, error_model="numpy")
def mask(first: int, key: Any, threshold: Any, out: Array) -> None:
    """Write 1 if an element is kept, else 0, uint8 (size,)."""
    start = np.uint32(first)
    for i in range(out.shape[0]):
        out[i] = _hash(np.uint32(start + np.uint32(i)), key) >= threshold


@njit(cache=True, nogil=True, error_model="numpy")
def relu_dropout(x: Array, first: int, key: Any, threshold: Any, scale: Any) -> None:
    """Replace x, (size,), by dropout(relu(x)); what is not positive afterwards had no effect, which backward uses."""
    start = np.uint32(first)
    for i in range(x.shape[0]):
        kept = _hash(np.uint32(start + np.uint32(i)), key) >= threshold
        value = x[i]
        x[i] = np.float32(0.0) if (value <= 0) | (not kept) else value * scale  # NaN is not <= 0 and stays


@njit(cache=True, nogil=True, error_model="numpy")
def relu_dropout_backward(grad: Array, y: Array, scale: Any, out: Array) -> None:
    """Write the gradient for the result's gradient, all (size,)."""
    for i in range(y.shape[0]):
        out[i] = grad[i] * scale if y[i] != 0 else np.float32(0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def relu_mask(x: Array, first: int, key: Any, threshold: Any) -> None:
    """Replace bfloat16 numbers x, given as int16 (size,), by 0 if they are negative or dropped."""
    start = np.uint32(first)
    for i in range(x.shape[0]):
        kept = _hash(np.uint32(start + np.uint32(i)), key) >= threshold
        value = x[i]  # of negative bfloat16 as int16, numbers are below −128, −∞ is −128, and NaNs are above
        x[i] = np.int16(0) if (value <= -128) | (not kept) else value


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SUMS)
def relu_mask_backward(grad: Array, y: Array, bits: Array, total: Array) -> None:
    """Replace bfloat16 gradients, as int16 (rows, d), by 0 if y is 0; add their columns' sums to total, float32.

    `bits`, int32 (d,), is room for a row in float32.
    """
    values = bits.view(np.float32)
    for r in range(grad.shape[0]):
        gr, yr = grad[r], y[r]
        for j in range(grad.shape[1]):
            g = gr[j] if yr[j] != 0 else np.int16(0)
            gr[j] = g
            bits[j] = np.int32(g) << np.int32(16)  # bfloat16 is the upper half of a float32
        for j in range(grad.shape[1]):
            total[j] += values[j]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SUMS)
def add_norm(
    x: Array, kept: Array, residual: Array, weight: Array, bias: Array, scale: Any, hat: Array, rstd: Array, y: Array
) -> None:
    """Write y = weight·hat + bias, hat = normalized (residual + kept·scale·x), all (rows, d), and rstd, (rows,)."""
    d = x.shape[1]
    for r in range(x.shape[0]):
        xr, kr, rr, hr, yr = x[r], kept[r], residual[r], hat[r], y[r]
        total = np.float32(0.0)
        for j in range(d):
            z = rr[j] + xr[j] * (np.float32(kr[j]) * scale)
            hr[j] = z
            total += z
        mean = total / np.float32(d)
        # In a second pass: the mean of squares less the squared mean has few digits left where the mean is large.
        square = np.float32(0.0)
        for j in range(d):
            square += (hr[j] - mean) * (hr[j] - mean)
        inverse = np.float32(1.0) / np.sqrt(square / np.float32(d) + _EPSILON)
        rstd[r] = inverse
        for j in range(d):
            h = (hr[j] - mean) * inverse
            hr[j] = h
            yr[j] = h * weight[j] + bias[j]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SUMS)
def add_norm_backward(grad: Array, saved: Arrays, scale: Any, gradients: Arrays) -> None:
    """Write the gradients of `add_norm`; those of weight and bias, (d,), are added to what is there."""
    kept, weight, hat, rstd = saved
    dx, dresidual, dweight, dbias = gradients
    d = grad.shape[1]
    for r in range(grad.shape[0]):
        gr, kr, hr, xr, rr = grad[r], kept[r], hat[r], dx[r], dresidual[r]
        total, projected = np.float32(0.0), np.float32(0.0)
        for j in range(d):
            g = gr[j] * weight[j]
            total += g
            projected += g * hr[j]
            dweight[j] += gr[j] * hr[j]
            dbias[j] += gr[j]
        total, projected, inverse = total / np.float32(d), projected / np.float32(d), rstd[r]
        for j in range(d):
            # A norm undoes shifts and scalings of z: the gradient has no part along 1, nor (except epsilon) hat.
            dz = (gr[j] * weight[j] - total - hr[j] * projected) * inverse
            rr[j] = dz
            xr[j] = dz * (np.float32(kr[j]) * scale)


# Without fastmath: reordered, z − n·high − n·low could lose what the low part adds.
@njit(cache=True, nogil=True, error_model="numpy")
def softmax_dropout(
    x: Array, factor: Any, first: int, key: Any, threshold: Any, scale: Any, bits: Array, dropped: Array
) -> None:
    """Replace x, (rows, length), by softmax(factor·x), and write what dropout leaves of it to `dropped`.

    `factor` is 1/√(head dimension); `bits`, int32 (block·length,), is room for the exponents of a block of rows.
    """
    rows, length = x.shape
    block = bits.shape[0] // length
    powers = bits.view(np.float32)
    start = np.uint32(first)
    for begin in range(0, rows, block):
        count = min(block, rows - begin)
        for r in range(begin, begin + count):
            row = x[r]
            greatest = row[0]
            for j in range(length):
                greatest = max(greatest, row[j])
            for j in range(length):
                row[j] = (row[j] - greatest) * factor
        flat = x[begin : begin + count].reshape(count * length)
        for i in range(count * length):  # exp: 2^n · e^r with |r| <= ln(2)/2, Cephes' polynomial
            z = flat[i]
            z = np.float32(-87.0) if z < np.float32(-87.0) else z  # keeps the exponent of 2^n, n + 127, positive
            n = np.floor(z * _LOG2E + np.float32(0.5))
            r = z - n * _LN2_HIGH - n * _LN2_LOW
            e = np.float32(1.9875691500e-4) * r + np.float32(1.3981999507e-3)
            e = e * r + np.float32(8.3334519073e-3)
            e = e * r + np.float32(4.1665795894e-2)
            e = e * r + np.float32(1.6666665459e-1)
            e = e * r + np.float32(5.0000001201e-1)
            flat[i] = e * r * r + r + np.float32(1.0)
            bits[i] = (np.int32(n) + np.int32(127)) << np.int32(23)
        for i in range(count * length):
            flat[i] *= powers[i]
        for r in range(begin, begin + count):
            row = x[r]
            total = np.float32(0.0)
            for j in range(length):
                total += row[j]
            inverse = np.float32(1.0) / total
            for j in range(length):
                row[j] *= inverse
        out = dropped[begin : begin + count].reshape(count * length)
        offset = np.uint32(start + np.uint32(begin * length))
        for i in range(count * length):
            kept = _hash(np.uint32(offset + np.uint32(i)), key) >= threshold
            out[i] = flat[i] * scale if kept else np.float32(0.0)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SUMS)
def softmax_dropout_backward(grad: Array, x: Array, dropped: Array, factor: Any, scale: Any) -> None:
    """Replace the gradient of `dropped` by that of the scores, for the softmax x, all (rows, length)."""
    for r in range(grad.shape[0]):
        gr, xr, kr = grad[r], x[r], dropped[r]
        total = np.float32(0.0)
        for j in range(grad.shape[1]):
            # A kept element that is 0 counts as dropped: its softmax is (nearly) 0, and all that g is multiplied by.
            g = gr[j] * scale if kr[j] != 0 else np.float32(0.0)
            gr[j] = g
            total += g * xr[j]
        for j in range(grad.shape[1]):
            # The Jacobian of softmax, diag(x) − x·xᵀ, without the matrix.
            gr[j] = (gr[j] - total) * xr[j] * factor

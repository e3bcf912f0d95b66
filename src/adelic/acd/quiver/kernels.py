"""Compiled mutation, canonical forms and breadth-first search for exchange matrices. Importing this module loads numba.

The canonical form is found as in McKay's "Practical graph isomorphism" (1981): colour refinement orders the vertices
into cells; where a cell has several vertices, each of them in turn is individualised (put into a cell of its own) and
the refinement goes on. The leaves of this search tree are orders of the vertices, and the canonical form is the
lexicographically least matrix among them. The refinement compares 64-bit hashes. A collision would leave two vertices
in one cell that could have been told apart, for every labelling alike, so the result would stay exact.
"""

import numpy as np
from numpy.typing import NDArray

from adelic.acd.permutations import Int8, Int64
from adelic.errors import needs_extra

with needs_extra("adelic.acd", "data"):
    from adelic.numbers.kernels import njit

Hashes = NDArray[np.uint64]

OVERFLOW = -1
FACTOR_LIMIT = 1 << 31  # products of two factors below it fit into 64 bits


@njit(cache=True)
def mixed(x: np.uint64) -> np.uint64:
    """Return x with its bits mixed: the finaliser of SplitMix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(cache=True)
def fill_neighbours(b: Int64, neighbours: Int64, weights: Hashes, degrees: Int64) -> None:
    """List the neighbours of each vertex, each with a hash of the two entries that join them."""
    n = len(b)
    for v in range(n):
        degree = 0
        for u in range(n):
            if b[v, u] != 0:
                neighbours[v, degree] = u
                weights[v, degree] = mixed(np.uint64(b[v, u]) ^ mixed(np.uint64(b[u, v])))
                degree += 1
        degrees[v] = degree


@njit(cache=True)
def sort_cell(order: Int64, keys: Hashes, start: int, stop: int) -> None:
    """Sort the vertices order[start:stop] by their keys; cells are small, and insertion is fastest."""
    for i in range(start + 1, stop):
        v = order[i]
        j = i
        while j > start and keys[order[j - 1]] > keys[v]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = v


@njit(cache=True)
def split_cell(order: Int64, colours: Int64, keys: Hashes, start: int, stop: int) -> bool:
    """Split a cell by the keys of its vertices, in ascending order; return whether they differ."""
    sort_cell(order, keys, start, stop)
    colour = start
    for i in range(start + 1, stop):
        if keys[order[i]] != keys[order[i - 1]]:
            colour = i
        colours[order[i]] = colour
    return colour != start


@njit(cache=True)
def refine(order: Int64, colours: Int64, neighbours: Int64, weights: Hashes, degrees: Int64, keys: Hashes) -> int:
    """Split cells until vertices of one cell see each colour equally often; return the first cell with several, or n.

    `order` lists the vertices cell by cell; the colour of a vertex is the place where its cell starts.
    """
    n = len(order)
    target = 0
    again = True
    while again:
        again = False
        target = n
        start = 0
        while start < n:
            stop = start + 1
            while stop < n and colours[order[stop]] == start:
                stop += 1
            if stop - start > 1:
                for i in range(start, stop):
                    v = order[i]
                    key = np.uint64(0)  # a sum: the order of the neighbours depends on the labelling
                    for place in range(degrees[v]):
                        seen = np.uint64(colours[neighbours[v, place]])
                        key += mixed(weights[v, place] + seen * np.uint64(0x9E3779B97F4A7C15))
                    keys[v] = key
                # Cells further on see the new colours at once; the order of cells is that of every labelling.
                if split_cell(order, colours, keys, start, stop):
                    again = True
                elif target == n:
                    target = start
            start = stop
    return target


@njit(cache=True)
def compared(b: Int64, left: Int64, right: Int64) -> int:
    """Return -1, 0 or 1 as b with its vertices in the order `left` is less, equal or greater than in the order `right`.

    Lexicographically, row by row.
    """
    for i in range(len(b)):
        for j in range(len(b)):
            x, y = b[left[i], left[j]], b[right[i], right[j]]
            if x != y:
                return -1 if x < y else 1
    return 0


@njit(cache=True)
def root(orbits: Int64, v: int) -> int:
    """Return the representative of the orbit of v in a union-find forest."""
    while orbits[v] != v:
        v = orbits[v]
    return v


@njit(cache=True)
def canonical_order(b: Int64, best: Int64, neighbours: Int64, weights: Hashes, degrees: Int64, keys: Hashes) -> None:
    """Write into `best` the vertices in their canonical order; the other arguments are room to work in.

    Two leaves with equal matrices give an automorphism. At a node of the tree whose individualised vertices it fixes,
    its orbits join children with equal subtrees, of which one is enough (McKay 1981, section 2).
    """
    n = len(b)
    fill_neighbours(b, neighbours, weights, degrees)
    for v in range(n):
        best[v] = v
        keys[v] = degrees[v]
    colours = np.zeros(n, np.int64)
    split_cell(best, colours, keys, 0, n)
    target = refine(best, colours, neighbours, weights, degrees, keys)
    if target < n:
        search(b, best, colours, target, neighbours, weights, degrees, keys)


@njit(cache=True)
def copy(source: Int64, target: Int64) -> None:
    """Copy a vector: of `target[:] = source` numba compiles the texts of its errors, too, which takes seconds."""
    for i in range(len(source)):
        target[i] = source[i]


@njit(cache=True)
def search(
    b: Int64, best: Int64, root_colours: Int64, root_target: int,
    neighbours: Int64, weights: Hashes, degrees: Int64, keys: Hashes,
) -> None:  # fmt: skip
    """Walk the search tree depth first from the refined root; leave the best leaf in `best`."""
    n = len(b)
    order, colours, orbits = np.empty((n, n), np.int64), np.empty((n, n), np.int64), np.empty((n, n), np.int64)
    target, child = np.empty(n, np.int64), np.empty(n, np.int64)  # the cell that branches; the place of the child
    best_path, image = np.empty(n, np.int64), np.empty(n, np.int64)
    copy(best, order[0])
    copy(root_colours, colours[0])
    target[0], child[0] = root_target, root_target - 1
    for v in range(n):
        orbits[0, v] = v
    has_leaf = False
    level = 0
    while level >= 0:
        place = next_child(order[level], colours[level], orbits[level], target[level], child[level] + 1)
        if place == n:
            level -= 1
            continue
        child[level] = place
        below = level + 1
        copy(order[level], order[below])
        copy(colours[level], colours[below])
        individualise(order[below], colours[below], target[level], place)
        first = refine(order[below], colours[below], neighbours, weights, degrees, keys)
        if first < n:
            target[below], child[below] = first, first - 1
            for v in range(n):
                orbits[below, v] = v
            level = below
            continue
        sign = compared(b, order[below], best) if has_leaf else -1
        if sign < 0:
            has_leaf = True
            copy(order[below], best)
            for above in range(below):
                best_path[above] = order[above, child[above]]
        elif sign == 0:
            for i in range(n):
                image[best[i]] = order[below, i]
            level = joined_orbits(orbits, order, child, image, best_path, level)


@njit(cache=True)
def next_child(order: Int64, colours: Int64, orbits: Int64, start: int, place: int) -> int:
    """Return the first place from `place` on in the cell at `start` with a vertex in a new orbit; n for none."""
    n = len(order)
    while place < n and colours[order[place]] == start:
        new = True
        for earlier in range(start, place):
            if root(orbits, order[earlier]) == root(orbits, order[place]):
                new = False
                break
        if new:
            return place
        place += 1
    return n


@njit(cache=True)
def individualise(order: Int64, colours: Int64, start: int, place: int) -> None:
    """Put the vertex at `place` first in its cell, which starts at `start`, and give the others the next colour."""
    order[start], order[place] = order[place], order[start]
    place = start + 1
    while place < len(order) and colours[order[place]] == start:
        colours[order[place]] = start + 1
        place += 1


@njit(cache=True)
def joined_orbits(orbits: Int64, order: Int64, child: Int64, image: Int64, best_path: Int64, level: int) -> int:
    """Join orbits by the automorphism `image` from the root down to the level where the best path and this one part.

    Return that level: what is left below it on this path is the image of what was searched below the best path.
    """
    for above in range(level + 1):
        for v in range(len(image)):
            mine, other = root(orbits[above], v), root(orbits[above], image[v])
            orbits[above, max(mine, other)] = min(mine, other)
        vertex = order[above, child[above]]
        if vertex != best_path[above]:
            return above
    return level


@njit(cache=True)
def canonical_forms(matrices: Int64) -> Int64:
    """Return the canonical forms of (count, n, n) matrices."""
    n = matrices.shape[1]
    best, neighbours, degrees = np.empty(n, np.int64), np.empty((n, n), np.int64), np.empty(n, np.int64)
    weights, keys = np.empty((n, n), np.uint64), np.empty(n, np.uint64)
    forms = np.empty_like(matrices)
    for index in range(len(matrices)):
        b = matrices[index]
        canonical_order(b, best, neighbours, weights, degrees, keys)
        for i in range(n):
            for j in range(n):
                forms[index, i, j] = b[best[i], best[j]]
    return forms


@njit(cache=True)
def symmetrizers(matrices: Int64) -> Int64:
    """Return, for (count, n, n) matrices, the least d_i > 0 with d_i b_ij = -d_j b_ji on each connected component.

    Entries must be less than FACTOR_LIMIT in absolute value. The result is int64 (count, n); a row of zeros where d
    does not exist, of OVERFLOW where it is too great.
    """
    count, n = matrices.shape[:2]
    result = np.zeros((count, n), np.int64)
    numerators, denominators, component = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    for index in range(count):
        b = matrices[index]
        numerators[:] = 0
        for first in range(n):
            if numerators[first] != 0:
                continue
            component[0] = first
            numerators[first] = denominators[first] = 1
            size = spread_ratios(b, component, numerators, denominators)
            if size > 0:
                size = scale_to_integers(component[:size], numerators, denominators)
            if size <= 0:
                numerators[:] = size
                break
        copy(numerators, result[index])
    return result


@njit(cache=True)
def spread_ratios(b: Int64, component: Int64, numerators: Int64, denominators: Int64) -> int:
    """Fill in d for the connected component of component[0]; return its size, 0 for a contradiction, or OVERFLOW."""
    size, done = 1, 0
    while done < size:
        v = component[done]
        done += 1
        for u in range(len(b)):
            there, back = b[v, u], b[u, v]
            if there == 0 and back == 0:
                continue
            if not (there < 0 < back or back < 0 < there):  # also where u == v
                return 0
            up, down = numerators[v] * abs(there), denominators[v] * abs(back)
            common = np.gcd(up, down)
            up, down = up // common, down // common
            if max(up, down) >= FACTOR_LIMIT:
                return OVERFLOW
            if numerators[u] == 0:
                component[size] = u
                size += 1
                numerators[u], denominators[u] = up, down
            elif numerators[u] != up or denominators[u] != down:
                return 0
    return size


@njit(cache=True)
def scale_to_integers(component: Int64, numerators: Int64, denominators: Int64) -> int:
    """Scale the fractions of a component to coprime integers, as numerators; return 1, or OVERFLOW."""
    multiple, divisor = 1, 0
    for v in component:
        multiple *= denominators[v] // np.gcd(multiple, denominators[v])
        if multiple >= FACTOR_LIMIT:
            return OVERFLOW
    for v in component:
        numerators[v] *= multiple // denominators[v]
        divisor = np.gcd(divisor, numerators[v])
    for v in component:
        numerators[v] //= divisor
    return 1


@njit(cache=True)
def mutate_into(b: Int8, k: int, result: Int64) -> bool:
    """Write the mutation of b at k into `result`; return whether all of its entries lie in -127..127."""
    n = len(b)
    greatest = 0
    for i in range(n):
        into = np.int64(b[i, k])
        for j in range(n):
            result[i, j] = b[i, j]
        for j in range(n):  # row and column k get nothing, since b[k, k] is 0
            out = np.int64(b[k, j])
            if (into > 0 and out > 0) or (into < 0 and out < 0):
                result[i, j] += abs(into) * out
                greatest = max(greatest, abs(result[i, j]))
    for i in range(n):
        result[i, k], result[k, i] = -result[i, k], -result[k, i]
    return greatest <= 127


@njit(cache=True)
def hash_factors(size: int) -> Hashes:
    """Return one odd number for each entry of a matrix: modulo 2^64 a product with it loses no bit."""
    factors = np.empty(size, np.uint64)
    for i in range(size):
        factors[i] = mixed(np.uint64(i + 1)) | np.uint64(1)
    return factors


@njit(cache=True)
def hashed(entries: Int8, factors: Hashes) -> np.uint64:
    """Return a hash of the entries of a matrix."""
    total = np.uint64(0)
    for i in range(len(entries)):
        total += np.uint64(entries[i]) * factors[i]
    return mixed(total)


@njit(cache=True)
def equal(left: Int8, right: Int8) -> bool:
    """Return whether two rows are equal."""
    for i in range(len(left)):  # noqa: SIM110 - numba compiles no generator expressions
        if left[i] != right[i]:
            return False
    return True


@njit(cache=True)
def find(entries: Int8, members: Int8, table: Int64, factors: Hashes) -> int:
    """Return the slot of the table that holds the index of `entries` among the members, or the free one where it goes.

    A table of open addresses, its length a power of two; -1 marks free slots.
    """
    mask = np.uint64(len(table) - 1)
    slot = hashed(entries, factors) & mask
    while table[slot] >= 0 and not equal(members[table[slot]], entries):
        slot = (slot + np.uint64(1)) & mask
    return int(slot)


@njit(cache=True)
def index_table(members: Int8, count: int, size: int) -> Int64:
    """Return a table of `size` slots for the first `count` members."""
    table = np.full(size, -1, np.int64)
    factors = hash_factors(members.shape[1])
    for index in range(count):
        table[find(members[index], members, table, factors)] = index
    return table


@njit(cache=True)
def expand(members: Int8, table: Int64, count: int, first: int, last: int, n: int) -> int:
    """Add the canonical forms of all mutations of members[first:last] that are new; return how many members there are.

    Members are flat matrices, (capacity, n * n), `count` of them, with room for n * (last - first) more; `table` finds
    them, see `find`. OVERFLOW is returned if an entry leaves -127..127.
    """
    best, neighbours, degrees = np.empty(n, np.int64), np.empty((n, n), np.int64), np.empty(n, np.int64)
    weights, keys = np.empty((n, n), np.uint64), np.empty(n, np.uint64)
    mutated = np.empty((n, n), np.int64)
    factors = hash_factors(n * n)
    for index in range(first, last):
        b = members[index].reshape(n, n)
        for k in range(n):
            if not mutate_into(b, k, mutated):
                return OVERFLOW
            canonical_order(mutated, best, neighbours, weights, degrees, keys)
            form = members[count]  # where it stays if it is new; else the next one is written over it
            for i in range(n):
                for j in range(n):
                    form[i * n + j] = mutated[best[i], best[j]]
            slot = find(form, members, table, factors)
            if table[slot] < 0:
                table[slot] = count
                count += 1
    return count

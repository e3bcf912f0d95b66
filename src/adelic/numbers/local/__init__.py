"""One place at a time: p-adic numbers with the functions that number theory has for them.

`functions`: one number at one prime, the readable reference; `array`: arrays of such numbers; `matrices`: determinants,
solutions and Smith forms of many matrices; `polynomials`: values, Newton polygons, factors, and `roots` their roots;
`rational`: valuations, absolute values and periods of rational numbers, which are known exactly; `special`: Γ_p and
ζ_p; `continuous`: Mahler series and random numbers; `recognition`: the minimal polynomials of algebraic numbers;
`extensions`: unramified and Eisenstein extensions.

May import `number_array`, `algebraic.polynomials`, `decoding.reconstruction`, and their imports. Another function is
one of `functions`, of all numbers at once, and a method of `array.PadicArray`, which masks where it is undefined.
"""

'use strict';
// Surface of the union of thousands of capsules: distances on a grid, and a net of one corner in every cell that it cuts.

// A net cuts off less than this share of cell^2 / radius, which is how far a chord is from its arc; so much further
// outside it is drawn (tested with random hulls).
const CUT = 0.75;

// Capsules are [a, b], each a ball [x, y, z, radius].
function unionGeometry(capsules, cell) {
  const low = [0, 1, 2].map(i => Math.min(...capsules.map(c => Math.min(c[0][i] - c[0][3], c[1][i] - c[1][3]))) - 3 * cell);
  const high = [0, 1, 2].map(i => Math.max(...capsules.map(c => Math.max(c[0][i] + c[0][3], c[1][i] + c[1][3]))) + 3 * cell);
  const n = low.map((l, i) => Math.ceil((high[i] - l) / cell) + 1), far = 3 * cell, field = new Float32Array(n[0] * n[1] * n[2]).fill(far);
  capsules.forEach(capsule => lower(field, n, low, capsule, cell));
  return net(field, n, low, cell);
}

// Take the distance from a capsule where it is smaller than what stands in the field.
function lower(field, n, low, [a, b], cell) {
  const far = 3 * cell, air = CUT * cell * cell / Math.max(Math.min(a[3], b[3]), cell);
  let d = [b[0] - a[0], b[1] - a[1], b[2] - a[2]], length = Math.hypot(...d), ra = a[3], slope = 0;
  if (length <= Math.abs(a[3] - b[3]) + 1e-9) { if (b[3] > a[3]) a = b; ra = a[3]; length = 0; } else { d = d.map(x => x / length); slope = (b[3] - ra) / length; }
  const shift = slope / Math.sqrt(1 - slope * slope), end = length ? b : a, from = [], to = [];
  for (let i = 0; i < 3; i++) {
    from.push(Math.max(0, Math.floor((Math.min(a[i] - ra, end[i] - end[3]) - 1.5 * cell - low[i]) / cell)));
    to.push(Math.min(n[i] - 1, Math.ceil((Math.max(a[i] + ra, end[i] + end[3]) + 1.5 * cell - low[i]) / cell)));
  }
  for (let k = from[2]; k <= to[2]; k++) for (let j = from[1]; j <= to[1]; j++) {
    const z = low[2] + k * cell - a[2], y = low[1] + j * cell - a[1], row = n[0] * (j + n[1] * k);
    for (let i = from[0]; i <= to[0]; i++) {
      const x = low[0] + i * cell - a[0], square = x * x + y * y + z * z, along = x * d[0] + y * d[1] + z * d[2];
      const beside = Math.sqrt(Math.max(0, square - along * along)), at = length ? Math.max(0, Math.min(length, along + beside * shift)) : 0;
      const away = Math.sqrt(Math.max(0, square - 2 * at * along + at * at)) - ra - slope * at - air;
      if (away < field[row + i]) field[row + i] = Math.max(away, -far);
    }
  }
}

function net(field, n, low, cell) {
  const step = [1, n[0], n[0] * n[1]], corner = new Int32Array(field.length).fill(-1), positions = [], indices = [];
  for (let k = 0; k + 1 < n[2]; k++) for (let j = 0; j + 1 < n[1]; j++) for (let i = 0; i + 1 < n[0]; i++) {
    const at = i + n[0] * (j + n[1] * k);
    let inside = 0;
    for (let c = 0; c < 8; c++) if (field[at + (c & 1) + (c & 2 ? step[1] : 0) + (c & 4 ? step[2] : 0)] < 0) inside++;
    if (inside === 0 || inside === 8) continue;
    let count = 0, x = 0, y = 0, z = 0;  // mean of where the edges of the cell are cut
    for (let c = 0; c < 8; c++) for (let e = 0; e < 3; e++) {
      if (c & (1 << e)) continue;
      const p = at + (c & 1) + (c & 2 ? step[1] : 0) + (c & 4 ? step[2] : 0), f = field[p], g = field[p + step[e]];
      if ((f < 0) === (g < 0)) continue;
      const w = f / (f - g);
      x += (c & 1) + (e === 0 ? w : 0); y += (c >> 1 & 1) + (e === 1 ? w : 0); z += (c >> 2 & 1) + (e === 2 ? w : 0); count++;
    }
    corner[at] = positions.length / 3;
    positions.push(low[0] + cell * (i + x / count), low[1] + cell * (j + y / count), low[2] + cell * (k + z / count));
  }
  for (let k = 1; k + 1 < n[2]; k++) for (let j = 1; j + 1 < n[1]; j++) for (let i = 1; i + 1 < n[0]; i++) {
    const at = i + n[0] * (j + n[1] * k), f = field[at] < 0;
    for (let e = 0; e < 3; e++) {
      if (f === (field[at + step[e]] < 0)) continue;
      const u = step[(e + 1) % 3], v = step[(e + 2) % 3], [p, q, r, s] = [corner[at - u - v], corner[at - v], corner[at], corner[at - u]];
      if (f) indices.push(p, q, r, p, r, s); else indices.push(p, r, q, p, s, r);
    }
  }
  return geometryOf(new Float32Array(positions), null, new Uint32Array(indices));
}

'use strict';
// Shapes of the scene as triangles: capsules with a radius at each end, alone or thousands in one.

// Numbers of an array that stands in the page as base64.
function unpacked(array) {
  const bytes = Uint8Array.from(atob(array.f4), c => c.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}

// The same, where a run that goes on adds to them.
class Numbers {
  constructor(array) { this.all = unpacked(array); }

  append(array) {
    const more = unpacked(array), count = this.all.length;
    let room = this.all.buffer;
    if (room.byteLength < 4 * (this.all.byteOffset / 4 + count + more.length)) {
      const larger = new Float32Array(2 * (count + more.length)); larger.set(this.all); room = larger.buffer;
      this.all = new Float32Array(room, 0, count);
    }
    this.all = new Float32Array(room, this.all.byteOffset, count + more.length); this.all.set(more, count);
  }

  drop(count) { this.all = this.all.slice(count); }
}

const AROUND = 14, ALONG = 3;  // corners of a ring, and bands from a pole to where the cone begins
// Facets lie inside a ball; a ball this much larger has them outside.
const OUTSIDE = 1 / (Math.cos(Math.PI / AROUND) * Math.cos(Math.PI / 4 / ALONG));

function capsuleSize() {
  const rings = 2 * (ALONG + 1) - 2, corners = 2 + rings * AROUND;
  return { rings, corners, indices: 3 * (2 * AROUND + (rings - 1) * 2 * AROUND) };
}

// Hull of two balls, written into arrays from a corner on; the larger ball alone where it contains the other.
function writeCapsule(positions, normals, indices, corner, index, a, b, ra, rb) {
  const size = capsuleSize();
  let d = [b[0] - a[0], b[1] - a[1], b[2] - a[2]], length = Math.hypot(...d);
  if (length <= Math.abs(ra - rb) + 1e-9) { if (ra > rb) { b = a; rb = ra; } else { a = b; ra = rb; } length = 0; d = [0, 0, 1]; }
  else d = d.map(x => x / length);
  const side = Math.abs(d[0]) < 0.8 ? [1, 0, 0] : [0, 1, 0];
  let u = [d[1] * side[2] - d[2] * side[1], d[2] * side[0] - d[0] * side[2], d[0] * side[1] - d[1] * side[0]];
  const norm = Math.hypot(...u); u = u.map(x => x / norm);
  const v = [d[1] * u[2] - d[2] * u[1], d[2] * u[0] - d[0] * u[2], d[0] * u[1] - d[1] * u[0]];
  const tangent = length ? Math.acos((ra - rb) / length) : Math.PI / 2;  // angle from d of the normals of the cone
  const put = (center, radius, angle, turn) => {
    const along = Math.cos(angle), out = Math.sin(angle), c = Math.cos(turn) * out, s = Math.sin(turn) * out;
    for (let i = 0; i < 3; i++) {
      const n = along * d[i] + c * u[i] + s * v[i];
      normals[3 * corner + i] = n; positions[3 * corner + i] = center[i] + radius * n;
    }
    corner++;
  };
  const first = corner;
  put(b, rb, 0, 0);
  const ring = (center, radius, angle) => { for (let k = 0; k < AROUND; k++) put(center, radius, angle, 2 * Math.PI * k / AROUND); };
  for (let i = 1; i <= ALONG; i++) ring(b, rb, tangent * i / ALONG);
  for (let i = 0; i < ALONG; i++) ring(a, ra, tangent + (Math.PI - tangent) * i / ALONG);
  put(a, ra, Math.PI, 0);
  const last = corner - 1, at = (r, k) => first + 1 + r * AROUND + (k % AROUND);
  for (let k = 0; k < AROUND; k++) {
    indices[index++] = first; indices[index++] = at(0, k); indices[index++] = at(0, k + 1);
    for (let r = 0; r + 1 < size.rings; r++) {
      indices[index++] = at(r, k); indices[index++] = at(r + 1, k); indices[index++] = at(r + 1, k + 1);
      indices[index++] = at(r, k); indices[index++] = at(r + 1, k + 1); indices[index++] = at(r, k + 1);
    }
    indices[index++] = last; indices[index++] = at(size.rings - 1, k + 1); indices[index++] = at(size.rings - 1, k);
  }
}

// Capsules [a, b, radius at a, radius at b] as one geometry; each takes the same number of indices.
function capsulesGeometry(capsules) {
  const size = capsuleSize(), count = capsules.length;
  const positions = new Float32Array(3 * size.corners * count), normals = new Float32Array(3 * size.corners * count);
  const indices = new Uint32Array(size.indices * count);
  capsules.forEach(([a, b, ra, rb], i) => writeCapsule(positions, normals, indices, i * size.corners, i * size.indices, a, b, ra, rb));
  return geometryOf(positions, normals, indices);
}

function geometryOf(positions, normals, indices) {
  const made = new THREE.BufferGeometry();
  made.setAttribute('position', new THREE.BufferAttribute(positions, 3));
  made.setIndex(new THREE.BufferAttribute(indices, 1));
  if (normals) made.setAttribute('normal', new THREE.BufferAttribute(normals, 3)); else made.computeVertexNormals();
  return made;
}

// Ball around two balls.
function ballAround(a, b) {
  const d = [b[0] - a[0], b[1] - a[1], b[2] - a[2]], apart = Math.hypot(...d);
  if (apart + b[3] <= a[3]) return a;
  if (apart + a[3] <= b[3]) return b;
  const r = (apart + a[3] + b[3]) / 2, w = (r - a[3]) / apart;
  return [a[0] + w * d[0], a[1] + w * d[1], a[2] + w * d[2], r];
}

const GROWTH = 0.002;  // [m] that a ball around those of several time steps may be larger than each of them

// What a plan may reach. `now` has every capsule of every time step; `whole` draws steps together that hardly differ,
// each link by itself: a hull of two balls around the balls of all these steps contains what they contain.
function reachGeometry(pieces, cell) {
  const now = [], whole = [], starts = [];
  let links = 0;
  pieces.forEach(piece => {
    const points = unpacked(piece.points), radii = unpacked(piece.radii), [steps, m] = piece.points.shape;
    links = m;
    const ball = (t, c, e) => { const k = 2 * (t * m + c) + e; return [points[3 * k], points[3 * k + 1], points[3 * k + 2], radii[k]]; };
    for (let t = 0; t < steps; t++) for (let c = 0; c < m; c++) now.push([ball(t, c, 0), ball(t, c, 1)]);
    for (let c = 0; c < m; c++) {
      let pair = null, least = null;
      for (let t = 0; t < steps; t++) {
        const next = [ball(t, c, 0), ball(t, c, 1)], both = pair && pair.map((b, e) => ballAround(b, next[e])), smaller = pair && least.map((r, e) => Math.min(r, next[e][3]));
        if (both && both.every((b, e) => b[3] - smaller[e] <= GROWTH)) { pair = both; least = smaller; continue; }
        if (pair) whole.push(pair);
        pair = next; least = next.map(b => b[3]);
      }
      whole.push(pair);
    }
    starts.push({ start: piece.start, ends: piece.ends });
  });
  const asCapsule = ([a, b]) => [a, b, OUTSIDE * a[3], OUTSIDE * b[3]];
  return { whole: unionGeometry(whole, cell), step: k => capsulesGeometry(now.slice(k * links, (k + 1) * links).map(asCapsule)), starts, counts: [now.length, whole.length] };
}

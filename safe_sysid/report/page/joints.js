'use strict';
// Sliders for the joints of an arm; which of its capsules meet at the pose they give; where covers reach farthest.

const NEAR_PAIR = 0.03;  // [m]

// Nearest points of two segments: shares of the way along them.
function nearestShares(a, b, c, d) {
  const u = b.clone().sub(a), v = d.clone().sub(c), w = a.clone().sub(c), uu = u.dot(u), vv = v.dot(v), uv = u.dot(v), uw = u.dot(w), vw = v.dot(w);
  const clamp = x => Math.min(1, Math.max(0, x)), det = uu * vv - uv * uv;
  let s = uu > 0 && det > 1e-12 * uu * vv ? clamp((uv * vw - vv * uw) / det) : 0, t = vv > 0 ? (uv * s + vw) / vv : 0;
  if (t < 0 || t > 1 || !(vv > 0)) { t = clamp(t); s = uu > 0 ? clamp((uv * t - uw) / uu) : 0; }
  return [s, t];
}

function makeJoints(viewer, scene, card, clock) {
  const told = scene.joints, n = told.names.length, q = new Float32Array(n), moved = unpacked(told.q), frames = viewer.arm.frames;
  const turns = unpacked(told.turn), origins = unpacked(told.origin), axes = scene.shape.axis.map(axis => new THREE.Vector3(...axis));
  const still = new THREE.Quaternion(), zero = new THREE.Vector3(), own = new THREE.Quaternion(), step = new THREE.Vector3();

  // Forward kinematics, parents before children.
  function place() {
    for (let j = 0; j < n; j++) {
      const below = told.parent[j] < 0 ? null : frames[told.parent[j]], Q = below ? below.quaternion : still, p = below ? below.position : zero;
      frames[j].position.fromArray(origins, 3 * j).applyQuaternion(Q).add(p);
      frames[j].quaternion.copy(Q).multiply(own.fromArray(turns, 4 * j));
      if (told.slides[j]) frames[j].position.add(step.copy(axes[j]).multiplyScalar(q[j]).applyQuaternion(frames[j].quaternion));
      else frames[j].quaternion.multiply(own.setFromAxisAngle(axes[j], q[j]));
    }
  }

  const ends = unpacked(scene.shape.ends), m = scene.shape.joint.length, placed = [...Array(2 * m)].map(() => new THREE.Vector3());
  function distances() {
    for (let c = 0; c < m; c++) for (let e = 0; e < 2; e++) {
      const frame = frames[scene.shape.joint[c] < 0 ? n : scene.shape.joint[c]];
      placed[2 * c + e].fromArray(ends, 6 * c + 3 * e).applyQuaternion(frame.quaternion).add(frame.position);
    }
    return told.pairs.map(([i, j]) => {
      const [a, b, c, d] = [2 * i, 2 * i + 1, 2 * j, 2 * j + 1].map(k => placed[k]), [s, t] = nearestShares(a, b, c, d);
      const x = a.clone().lerp(b, s), y = c.clone().lerp(d, t);
      return { gap: x.distanceTo(y) - scene.shape.radius[i] - scene.shape.radius[j], x, y };
    });
  }

  const sliders = html('div', 'sliders', null, card), inputs = told.names.map((name, j) => {
    const label = html('label', '', null, sliders), words = html('span', '', name, label), slider = html('input', '', null, label), value = html('output', '', '', label);
    words.title = name; slider.type = 'range'; slider.className = 'joint'; slider.min = told.lower[j]; slider.max = told.upper[j]; slider.step = 'any';
    slider.setAttribute('aria-label', `${name}, from ${told.lower[j].toFixed(2)} to ${told.upper[j].toFixed(2)}`);
    slider.addEventListener('input', () => { q[j] = Number(slider.value); write(); viewer.ask(); });
    return { slider, value };
  });
  const write = () => inputs.forEach(({ slider, value }, j) => { slider.value = q[j]; value.textContent = told.slides[j] ? `${(1000 * q[j]).toFixed(0)} mm` : `${(180 / Math.PI * q[j]).toFixed(1)}\u00b0`; });
  function follow(time) {
    const { index, weight } = momentOf(scene.motion.time, time), next = Math.min(index + 1, scene.motion.time.length - 1);
    for (let j = 0; j < n; j++) q[j] = (1 - weight) * moved[index * n + j] + weight * moved[next * n + j];
    write();
  }
  clock.listen({ seek: follow });

  const list = html('div', 'pairs', null, card), least = html('p', '', '', list), table = html('table', '', null, list);
  const head = html('tr', '', null, html('thead', '', null, table)), body = html('tbody', '', null, table);
  ['first', 'second', 'pair is', 'now [mm]'].forEach(name => { html('th', 'text', name, head).scope = 'col'; });
  list.tabIndex = 0;
  const cells = told.pairs.map(([i, j, verdict, reason]) => {
    const row = html('tr', verdict === 'looked at' ? '' : 'left', null, body);
    html('td', 'text', told.capsules[i], row); html('td', 'text', told.capsules[j], row); html('td', 'text', reason ? `${verdict}: ${reason}` : verdict, row);
    return html('td', '', '', row);
  });

  const dot = new THREE.SphereGeometry(0.008, 10, 8), v = new THREE.Vector3(), pins = told.gaps.map(([joint, at, words]) => {
    const mark = new THREE.Mesh(dot, new THREE.MeshBasicMaterial({ depthTest: false, transparent: true })), label = html('div', 'pin gap', words, viewer.overlay);
    mark.renderOrder = 22; mark.position.set(...at); frames[joint < 0 ? n : joint].add(mark);
    return { mark, label };
  });
  const line = new THREE.BufferGeometry(), ends2 = new Float32Array(6), drawn = new THREE.LineSegments(line, new THREE.LineBasicMaterial({ depthTest: false, transparent: true }));
  line.setAttribute('position', new THREE.BufferAttribute(ends2, 3)); drawn.renderOrder = 20; drawn.frustumCulled = false; viewer.world.add(drawn);

  function look() {
    const found = distances(), state = new Uint8Array(m);
    let worst = -1;
    found.forEach(({ gap }, k) => {
      const [i, j, verdict] = told.pairs[k], listed = verdict === 'looked at', level = gap < 0 ? 2 : gap < NEAR_PAIR ? 1 : 0;
      cells[k].textContent = (1000 * gap).toFixed(0); cells[k].className = listed && level === 2 ? 'touching' : '';
      if (!listed) return;
      state[i] = Math.max(state[i], level); state[j] = Math.max(state[j], level);
      if (worst < 0 || gap < found[worst].gap) worst = k;
    });
    const tones = ['reach', 'use-half', 'bad'].map(viewer.tone);
    viewer.arm.capsules.forEach((mesh, c) => { mesh.material.color.copy(tones[state[c]]); mesh.material.opacity = state[c] ? 0.5 : 0.28; });
    drawn.visible = worst >= 0;
    if (worst >= 0) {
      const { gap, x, y } = found[worst], [i, j] = told.pairs[worst];
      [x.x, x.y, x.z, y.x, y.y, y.z].forEach((value, k) => { ends2[k] = value; });
      line.getAttribute('position').needsUpdate = true; drawn.material.color.copy(viewer.tone(gap < 0 ? 'bad' : 'near'));
      least.textContent = `Nearest of the pairs that plans look at: ${told.capsules[i]} and ${told.capsules[j]}, ${gap < 0 ? `overlapping by ${(-1000 * gap).toFixed(0)}` : (1000 * gap).toFixed(0)} mm.`;
    } else least.textContent = 'No pair needs to be looked at.';
    pins.forEach(({ mark, label }) => {
      mark.visible = viewer.shown.gaps; mark.material.color.copy(viewer.tone('near')); mark.getWorldPosition(v);
      viewer.pin(label, [v.x, v.y, v.z], viewer.shown.gaps);
    });
  }
  viewer.poseWith(place, look);
}

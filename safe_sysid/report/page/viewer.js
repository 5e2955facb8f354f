'use strict';
// The scene: arm, what it holds, obstacles, what plans may reach, and what is nearest, at a moment of the run.

const ASIDE = [0.55, 1.25, 0];  // [m] where a second run stands
const CLEAR = 0.15;  // [m] edge of a box that is drawn with faces; of a larger one they would hide the rest
const HIGHEST_RATIO = 2, LOWEST_RATIO = 0.5;  // pixels per CSS pixel
const AROUND_JOINTS = 0.12;  // [m] by which an arm reaches beyond the origins of its joints
const SLOW_FRAME = 30, IDLE = 250;  // [ms]
const MOST_MOMENTS = 12000, MOST_PIECES = 60;  // of a run that goes on: ten minutes, 20 a second

// Whether pictures are computed by the processor: then there is less of everything while things move.
function isSoftware() {
  const gl = document.createElement('canvas').getContext('webgl2'), told = gl.getExtension('WEBGL_debug_renderer_info');
  const name = told ? gl.getParameter(told.UNMASKED_RENDERER_WEBGL) : '';
  const lose = gl.getExtension('WEBGL_lose_context'); if (lose) lose.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

function makeViewer(canvas, overlay, data) {
  const software = isSoftware();
  THREE.ColorManagement.enabled = false;  // colours stay those of the style
  const renderer = new THREE.WebGLRenderer({ canvas, antialias: !software, stencil: true, alpha: true });
  renderer.outputColorSpace = THREE.LinearSRGBColorSpace;
  const world = new THREE.Scene(), camera = new THREE.PerspectiveCamera(42, 1, 0.02, 60);
  const tone = name => new THREE.Color(getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  const painted = [];  // [material, name of its colour]
  const paint = (material, name) => { painted.push([material, name]); material.color = tone(name); return material; };
  const shaded = (name, more) => paint(new Shaded(more || {}), name);
  const flat = (name, more) => paint(new THREE.MeshBasicMaterial(more || {}), name);
  const lined = (name, more) => paint(new THREE.LineBasicMaterial(more || {}), name);

  // A little behind what is drawn over it, as two programs need not compute the same depth.
  const depthOnly = new THREE.MeshBasicMaterial({ colorWrite: false, transparent: true, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 2 });
  const shown = { plan: true, now: true, held: true, nearest: true, beside: true, gaps: true, meshes: true, capsules: !data.shape.meshes.length || !!data.joints };

  // An arm: a group for every joint and one for the base, with what is fixed to it.
  function makeArm(link, tip, order) {
    const whole = new THREE.Group(), n = data.shape.axis.length, frames = [...Array(n + 1)].map(() => { const g = new THREE.Group(); whole.add(g); return g; });
    const ends = unpacked(data.shape.ends), capsules = [], meshes = [];
    const attach = (mesh, joint, isTip, list) => {
      const frame = frames[joint < 0 ? n : joint];
      list.push(mesh); frame.add(mesh);
      if (!(isTip ? tip : link).transparent) return;
      const under = new THREE.Mesh(mesh.geometry, depthOnly);  // overlapping parts are equally pale
      mesh.renderOrder = order + 1; under.renderOrder = order; list.push(under); frame.add(under);
    };
    const inOne = new Map();  // what moves together is drawn at once
    data.shape.joint.forEach((joint, c) => {
      const a = ends.subarray(6 * c, 6 * c + 3), b = ends.subarray(6 * c + 3, 6 * c + 6), r = data.shape.radius[c], isTip = data.shape.tip[c];
      if (data.joints) {  // over the meshes, each in a colour of its own
        const shell = new THREE.Mesh(capsulesGeometry([[a, b, r, r]]), new Shaded({ transparent: true, opacity: 0.3, depthWrite: false }));
        shell.renderOrder = 8; capsules.push(shell); frames[joint < 0 ? n : joint].add(shell);
        return;
      }
      const key = `${joint} ${isTip}`;
      if (!inOne.has(key)) inOne.set(key, { joint, isTip, shapes: [] });
      inOne.get(key).shapes.push([a, b, r, r]);
    });
    inOne.forEach(({ joint, isTip, shapes }) => attach(new THREE.Mesh(capsulesGeometry(shapes), isTip ? tip : link), joint, isTip, capsules));
    data.shape.meshes.forEach(each => {
      const mesh = new THREE.Mesh(geometryOf(unpacked(each.vertices), null, new Uint32Array(each.triangles)), each.tip ? tip : link);
      attach(mesh, each.joint, each.tip, meshes);
    });
    world.add(whole);
    return { whole, frames, capsules, meshes };
  }

  function poser(motion, frames) {
    const turns = new Numbers(motion.turn), origins = new Numbers(motion.origin), n = motion.turn.shape[1], q = new THREE.Quaternion();
    const place = time => {
      const turn = turns.all, origin = origins.all;
      const { index, weight } = momentOf(motion.time, time), next = Math.min(index + 1, motion.time.length - 1);
      for (let j = 0; j < n; j++) {
        const a = index * n + j, b = next * n + j;
        frames[j].quaternion.fromArray(turn, 4 * a).slerp(q.fromArray(turn, 4 * b), weight);
        for (let i = 0; i < 3; i++) frames[j].position.setComponent(i, (1 - weight) * origin[3 * a + i] + weight * origin[3 * b + i]);
      }
    };
    place.grow = more => { motion.time.push(...more.time); turns.append(more.turn); origins.append(more.origin); };
    place.drop = count => { motion.time.splice(0, count); turns.drop(4 * n * count); origins.drop(3 * n * count); };
    return place;
  }

  const glass = !!data.held;
  const arm = makeArm(shaded('arm'), shaded('tip', glass ? { transparent: true, opacity: 0.45 } : {}), 5);
  const moved = poser(data.motion, arm.frames);
  let pose = moved, after = null;

  // Housings of the joints, in the colour of the torque that they carry.
  const use = data.use && new Numbers(data.use), joints = (data.joints ? [] : data.shape.axis).map((axis, j) => {
    const near = data.shape.joint.map((joint, c) => joint === j || joint === j - 1 ? data.shape.radius[c] : 0).reduce((a, b) => Math.max(a, b), 0) || 0.03;
    const material = new Shaded({}); material.color = tone('arm-dark');
    const housing = new THREE.Mesh(new THREE.CylinderGeometry(1.06 * near, 1.06 * near, 0.9 * near, 28), material);
    housing.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), new THREE.Vector3(...axis));
    arm.frames[j].add(housing);
    return material;
  });

  const obstacles = new THREE.Group(); world.add(obstacles);
  const drawBox = box => {
    const at = k => box.corners[k], faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]];
    const positions = [], indices = [], edges = [];
    faces.forEach((face, f) => { face.forEach(k => positions.push(...at(k))); indices.push(4 * f, 4 * f + 1, 4 * f + 2, 4 * f, 4 * f + 2, 4 * f + 3); });
    for (let k = 0; k < 8; k++) [1, 2, 4].forEach(bit => { if (!(k & bit)) edges.push(...at(k), ...at(k | bit)); });
    const solid = new THREE.Mesh(geometryOf(new Float32Array(positions), null, new Uint32Array(indices)), shaded('box', { side: THREE.DoubleSide, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 }));
    const outline = new THREE.BufferGeometry(); outline.setAttribute('position', new THREE.BufferAttribute(new Float32Array(edges), 3));
    obstacles.add(solid, new THREE.LineSegments(outline, lined('box-edge')));
  };
  data.boxes.forEach(drawBox);

  // What may be reached is as pale wherever it is seen: however many of its surfaces lie behind each other, a pixel
  // is painted once for the whole plan and once for the moment, if any of them is before what hides it.
  const empty = new THREE.BufferGeometry(), layer = (material, order) => { const mesh = new THREE.Mesh(empty, material); mesh.renderOrder = order; mesh.frustumCulled = false; world.add(mesh); return mesh; };
  const put = (mesh, geometry, visible) => { mesh.geometry = geometry || empty; mesh.visible = !!geometry && visible; };
  const once = bit => ({ transparent: true, depthWrite: false, stencilWrite: true, stencilRef: bit, stencilFuncMask: bit, stencilWriteMask: bit, stencilFunc: THREE.NotEqualStencilFunc, stencilZPass: THREE.ReplaceStencilOp });
  const now = layer(flat('reach', { opacity: 0.15, ...once(1) }), 10), plan = layer(shaded('reach', { opacity: 0.17, ...once(2) }), 12);
  const built = new Map();
  let current = { step: '', geometry: null };
  function reachAt(time) {
    let piece = null;
    data.occupancy.forEach(each => { if (time >= each.start - 1e-9) piece = each; });
    if (!piece) { put(now); put(plan); return; }
    if (!built.has(piece.plan)) {
      if (built.size > 2) { const [oldest, old] = built.entries().next().value; old.whole.dispose(); built.delete(oldest); }
      built.set(piece.plan, reachGeometry(data.occupancy.filter(each => each.plan === piece.plan), software ? 0.022 : 0.012));
    }
    const entry = built.get(piece.plan);
    let step = 0;
    for (const each of entry.starts) {
      if (each.start === piece.start) { const k = each.ends.findIndex(end => time - piece.start <= end + 1e-9); step += k < 0 ? each.ends.length - 1 : k; break; }
      step += each.ends.length;
    }
    const drawn = `${piece.plan} ${step}`;
    if (drawn !== current.step) { if (current.geometry) current.geometry.dispose(); current = { step: drawn, geometry: entry.step(step) }; }
    put(now, current.geometry, shown.now); put(plan, entry.whole, shown.plan);
  }

  // What is known of the body that the last joint moves.
  const drawHeld = () => {
    const frame = arm.frames[data.held.joint], group = new THREE.Group(), numbers = {}, kept = ['com', 'lower', 'upper', 'ellipsoid', 'box'];
    kept.forEach(key => { numbers[key] = new Numbers(data.held[key]); });
    const cube = new THREE.BoxGeometry(2, 2, 2), edges = new THREE.EdgesGeometry(cube);
    const ball = new THREE.Mesh(new THREE.SphereGeometry(1, 24, 14), shaded('held'));
    const center = new THREE.Mesh(cube, flat('com', { transparent: true, opacity: 0.5, depthWrite: false, depthTest: false }));
    const around = new THREE.LineSegments(edges, lined('com', { depthTest: false, transparent: true })), bound = new THREE.LineSegments(edges, lined('held-edge', { transparent: true, opacity: 0.9 }));
    center.renderOrder = 16; around.renderOrder = 17; ball.matrixAutoUpdate = false; group.add(ball, center, around, bound); frame.add(group);
    const show = time => {
      group.visible = shown.held;
      const k = momentOf(data.held.time, time).index, three = (key, i) => numbers[key].all[3 * k + i], e = [...numbers.ellipsoid.all.subarray(9 * k, 9 * k + 9)];
      ball.visible = e.some(x => x !== 0);
      ball.matrix.set(e[0], e[1], e[2], three('com', 0), e[3], e[4], e[5], three('com', 1), e[6], e[7], e[8], three('com', 2), 0, 0, 0, 1);
      center.visible = [0, 1, 2].every(i => three('upper', i) - three('lower', i) < CLEAR);
      for (let i = 0; i < 3; i++) {
        const middle = (three('lower', i) + three('upper', i)) / 2, half = Math.max((three('upper', i) - three('lower', i)) / 2, 0.002);
        center.position.setComponent(i, middle); center.scale.setComponent(i, half); around.position.setComponent(i, middle); around.scale.setComponent(i, half);
        bound.position.setComponent(i, middle); bound.scale.setComponent(i, half + three('box', i));
      }
    };
    show.grow = more => { data.held.time.push(...more.time); kept.forEach(key => numbers[key].append(more[key])); };
    return show;
  };
  let held = data.held && drawHeld();

  // A second run beside the first one.
  const other = data.beside && (() => {
    const second = makeArm(shaded('other'), shaded('other'), 2), place = poser(data.beside.motion, second.frames);
    second.whole.position.set(...ASIDE);
    const label = document.createElement('div'); label.className = 'pin other'; overlay.appendChild(label);
    return time => {
      second.whole.visible = shown.beside;
      const own = Math.max(0, time - data.beside.begin); place(own);
      const stopped = data.beside.stopped !== null && own >= data.beside.stopped;
      label.textContent = data.beside.name + (stopped ? `: stopped after ${data.beside.stopped.toFixed(2)} s` : '');
      label.classList.toggle('stopped', stopped);
      pin(label, [ASIDE[0], ASIDE[1], 1.5], shown.beside);
    };
  })();

  // The line to what is nearest.
  const nearest = data.nearest && (() => {
    const allPoints = new Numbers(data.nearest.points), distances = new Numbers(data.nearest.distance), line = new THREE.BufferGeometry(), ends = new Float32Array(6);
    line.setAttribute('position', new THREE.BufferAttribute(ends, 3));
    const drawn = new THREE.LineSegments(line, lined('near', { depthTest: false, transparent: true })), dot = new THREE.SphereGeometry(0.011, 12, 8);
    const dots = [0, 1].map(() => { const d = new THREE.Mesh(dot, flat('near', { depthTest: false, transparent: true })); d.renderOrder = 21; world.add(d); return d; });
    drawn.renderOrder = 20; drawn.frustumCulled = false; world.add(drawn);
    const label = document.createElement('div'); label.className = 'pin near'; overlay.appendChild(label);
    const show = time => {
      const points = allPoints.all, distance = distances.all;
      const { index, weight } = momentOf(data.motion.time, time), k = weight > 0.5 ? Math.min(index + 1, distance.length - 1) : index;
      ends.set(points.subarray(6 * k, 6 * k + 6)); line.getAttribute('position').needsUpdate = true;
      const seen = shown.nearest && isFinite(distance[k]);  // infinitely far: nothing is in the way
      [drawn, ...dots].forEach(each => { each.visible = seen; });
      dots.forEach((d, i) => d.position.set(ends[3 * i], ends[3 * i + 1], ends[3 * i + 2]));
      label.textContent = `${(100 * distance[k]).toFixed(1)} cm`; label.title = data.nearest.names[data.nearest.which[k]];
      pin(label, [0, 1, 2].map(i => (ends[i] + ends[3 + i]) / 2), seen);
    };
    show.grow = more => {
      allPoints.append(more.points); distances.append(more.distance);
      data.nearest.which.push(...more.which.map(k => { const name = more.names[k]; if (!data.nearest.names.includes(name)) data.nearest.names.push(name); return data.nearest.names.indexOf(name); }));
    };
    show.distance = k => distances.all[k];
    show.drop = count => { allPoints.drop(6 * count); distances.drop(count); data.nearest.which.splice(0, count); };
    return show;
  })();

  const v = new THREE.Vector3();
  function pin(label, point, visible) {
    v.set(...point).project(camera);
    const x = (v.x + 1) / 2 * canvas.clientWidth, y = (1 - v.y) / 2 * canvas.clientHeight;
    label.style.display = visible && v.z < 1 ? '' : 'none';
    const wide = Math.min(4 * label.textContent.length + 8, 0.23 * canvas.clientWidth + 8);  // about half its width, which nobody measures every time
    // Shares of the picture, as it has another size on paper.
    label.style.left = `${(100 * Math.max(wide, Math.min(canvas.clientWidth - wide, x)) / canvas.clientWidth).toFixed(2)}%`; label.style.top = `${(100 * y / canvas.clientHeight).toFixed(2)}%`;
  }

  function floor(size) {
    const half = Math.ceil(size / 0.5) * 0.25, points = [];
    for (let s = -half; s <= half + 1e-9; s += 0.25) points.push(s, -half, 0, s, half, 0, -half, s, 0, half, s, 0);
    const grid = new THREE.BufferGeometry(); grid.setAttribute('position', new THREE.BufferAttribute(new Float32Array(points), 3));
    world.add(new THREE.LineSegments(grid, lined('floor')));
  }

  const home = (() => {
    const low = [1e9, 1e9, 0], high = [-1e9, -1e9, 0.2], take = p => { for (let i = 0; i < 3; i++) { low[i] = Math.min(low[i], p[i]); high[i] = Math.max(high[i], p[i]); } };
    const origin = unpacked(data.motion.origin);
    for (let k = 0; k < origin.length; k += 3) take(origin.subarray(k, k + 3));
    data.boxes.forEach(box => { if (Math.min(...box.corners.map(c => c[2])) >= -0.005) box.corners.forEach(take); });
    data.occupancy.forEach(piece => { const p = unpacked(piece.points); for (let k = 0; k + 3 <= p.length; k += 3 * 61) take(p.subarray(k, k + 3)); });
    if (data.room) data.room.forEach(take);  // which an arm has that is still to be seen moving
    if (data.beside) take(ASIDE);
    for (let i = 0; i < 3; i++) { if (i < 2) low[i] -= AROUND_JOINTS; high[i] += AROUND_JOINTS; }
    const size = Math.max(0.6, Math.hypot(...low.map((l, i) => high[i] - l)));
    floor(1.6 * size);
    return { target: low.map((l, i) => (l + high[i]) / 2), distance: 1.24 * size };
  })();

  const finest = software ? HIGHEST_RATIO : Math.min(window.devicePixelRatio || 1, HIGHEST_RATIO);
  let time = data.motion.time[0], asked = 0, moving = software ? 1 : finest, ratio = finest, idle = 0, late = 0, before = 0;
  const colors = [tone('use-low'), tone('use-half'), tone('use-full')];
  function draw(wanted) {
    asked = 0; if (wanted > 0 && wanted <= HIGHEST_RATIO) ratio = wanted;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width || !height) return;
    if (renderer.getPixelRatio() !== ratio) renderer.setPixelRatio(ratio);
    if (canvas.width !== Math.floor(width * ratio) || canvas.height !== Math.floor(height * ratio)) renderer.setSize(width, height, false);
    camera.aspect = width / height; camera.updateProjectionMatrix(); camera.updateMatrixWorld();
    pose(time); reachAt(time);
    arm.capsules.forEach(mesh => { mesh.visible = shown.capsules; }); arm.meshes.forEach(mesh => { mesh.visible = data.joints ? shown.meshes : !shown.capsules; });
    if (use) {
      const n = joints.length, k = momentOf(data.motion.time, time).index;
      joints.forEach((material, j) => { const share = Math.min(1, use.all[k * n + j]), upper = share > 0.5; material.color.copy(colors[upper ? 1 : 0]).lerp(colors[upper ? 2 : 1], upper ? 2 * share - 1 : 2 * share); });
    }
    [held, other, nearest, after].forEach(each => { if (each) each(time); });
    renderer.render(world, camera);
  }
  const ask = () => {
    ratio = moving;
    if (!asked) asked = requestAnimationFrame(() => draw());
    clearTimeout(idle);
    if (moving !== finest) idle = setTimeout(() => draw(finest), IDLE);
  };
  const orbit = makeOrbit(canvas, camera, home, ask);
  const repaint = () => { painted.forEach(([material, name]) => { material.color = tone(name); }); ['use-low', 'use-half', 'use-full'].forEach((name, i) => colors[i].copy(tone(name))); ask(); };
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);
  new ResizeObserver(ask).observe(canvas);
  camera.aspect = canvas.clientWidth / Math.max(canvas.clientHeight, 1);
  orbit.preset('1');
  return {
    arm, world, overlay, tone, pin, ask,
    poseWith(place, then) { pose = place; after = then; ask(); },
    show(at) { time = at; ask(); },
    draw,
    preset: orbit.preset,
    turn: orbit.turn,
    view: orbit.view,
    shown,
    toggle(name, yes) { shown[name] = yes; ask(); },
    times() { return data.motion.time; },
    // Numbers of a moment: smallest distance [m], largest share of a torque limit.
    read(at) {
      const k = momentOf(data.motion.time, at).index, n = data.motion.turn.shape[1];
      return { distance: nearest ? nearest.distance(k) : Infinity, use: use ? Math.max(...use.all.subarray(n * k, n * k + n)) : null };
    },
    // Takes what a run that goes on adds; of the moments that were drawn the oldest are forgotten.
    grow(more) {
      if (more.motion) { moved.grow(more.motion); if (use) use.append(more.use); if (nearest) nearest.grow(more.nearest); }
      if (more.held) { if (held) held.grow(more.held); else { data.held = more.held; held = drawHeld(); } }
      if (more.boxes) { obstacles.clear(); more.boxes.forEach(drawBox); }
      if (more.occupancy) { data.occupancy.push(...more.occupancy); data.occupancy.splice(0, Math.max(0, data.occupancy.length - MOST_PIECES)); }
      if (data.motion.time.length === 2 && data.motion.time[1] - data.motion.time[0] > 1) { moved.drop(1); if (use) use.drop(data.motion.turn.shape[1]); if (nearest) nearest.drop(1); }  // who came late
      if (data.motion.time.length > 1.2 * MOST_MOMENTS) { const gone = data.motion.time.length - MOST_MOMENTS; moved.drop(gone); if (use) use.drop(data.motion.turn.shape[1] * gone); if (nearest) nearest.drop(gone); }
    },
    // While it plays: fewer pixels where frames come late.
    pace(now) {
      const took = before ? now - before : 0;
      late = took > SLOW_FRAME ? late + 1 : Math.max(0, late - 0.5); before = now;
      if (late > 5 && moving > LOWEST_RATIO) { moving = Math.max(LOWEST_RATIO, 0.75 * moving); late = 0; }
    },
    rest() { before = late = 0; ask(); },
  };
}

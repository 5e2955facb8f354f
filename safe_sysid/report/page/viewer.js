'use strict';
// The arm in 3D on a plain canvas: capsules are hulls of two shaded discs, drawn from far to near.

function makeViewer(canvas, scene) {
  const context = canvas.getContext('2d');
  const layer = document.createElement('canvas');
  const layerContext = layer.getContext('2d');
  const view = { azimuth: -0.9, elevation: 0.38, distance: 1, target: [0, 0, 0] };
  let frame = 0, width = 0, height = 0, showPlan = true;

  const size = (() => {
    const low = [1e9, 1e9, 0], high = [-1e9, -1e9, 0.2];
    const take = p => { for (let i = 0; i < 3; i++) { low[i] = Math.min(low[i], p[i]); high[i] = Math.max(high[i], p[i]); } };
    scene.capsules.forEach(f => f.forEach(c => { take(c[0]); take(c[1]); }));
    scene.boxes.forEach(b => b.corners.forEach(take));
    view.target = low.map((l, i) => (l + high[i]) / 2);
    return Math.max(0.5, Math.hypot(...low.map((l, i) => high[i] - l)));
  })();
  const reset = () => { view.azimuth = -0.9; view.elevation = 0.38; view.distance = 1.2 * size; };
  reset();

  const color = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function camera() {
    const ca = Math.cos(view.azimuth), sa = Math.sin(view.azimuth);
    const ce = Math.cos(view.elevation), se = Math.sin(view.elevation);
    const right = [-sa, ca, 0], up = [-se * ca, -se * sa, ce], back = [ce * ca, ce * sa, se];
    const eye = view.target.map((t, i) => t + view.distance * back[i]);
    const focal = 1.25 * Math.min(width, height);
    return point => {
      const d = [point[0] - eye[0], point[1] - eye[1], point[2] - eye[2]];
      const depth = -(d[0] * back[0] + d[1] * back[1] + d[2] * back[2]);
      const scale = focal / Math.max(depth, 0.05);
      return {
        x: width / 2 + scale * (d[0] * right[0] + d[1] * right[1]),
        y: height / 2 - scale * (d[0] * up[0] + d[1] * up[1] + d[2] * up[2]),
        depth, scale,
      };
    };
  }

  function hull(ctx, a, b, ra, rb) {
    const dx = b.x - a.x, dy = b.y - a.y, length = Math.hypot(dx, dy);
    ctx.beginPath();
    if (length <= Math.abs(ra - rb) + 1e-6) {
      const [c, r] = ra > rb ? [a, ra] : [b, rb];
      ctx.arc(c.x, c.y, r, 0, 2 * Math.PI);
      return;
    }
    const angle = Math.atan2(dy, dx), side = Math.acos((ra - rb) / length);
    ctx.arc(a.x, a.y, ra, angle + side, angle - side + 2 * Math.PI);
    ctx.arc(b.x, b.y, rb, angle - side, angle + side);
    ctx.closePath();
  }

  function shaded(a, b, ra, rb, light, dark) {
    const dx = b.x - a.x, dy = b.y - a.y, length = Math.hypot(dx, dy) || 1;
    let nx = -dy / length, ny = dx / length;
    if (nx * -0.5 + ny * -0.85 < 0) { nx = -nx; ny = -ny; }  // towards the light, up and to the left
    const r = Math.max(ra, rb), mx = (a.x + b.x) / 2, my = (a.y + b.y) / 2;
    const gradient = context.createLinearGradient(mx + nx * r, my + ny * r, mx - nx * r, my - ny * r);
    gradient.addColorStop(0, light); gradient.addColorStop(0.35, light); gradient.addColorStop(1, dark);
    return gradient;
  }

  function floor(project) {
    const half = Math.ceil(size / 0.25) * 0.125, step = 0.25;
    context.strokeStyle = color('--floor'); context.lineWidth = 1;
    const line = (p, q) => { const a = project(p), b = project(q); context.beginPath(); context.moveTo(a.x, a.y); context.lineTo(b.x, b.y); context.stroke(); };
    for (let s = -half; s <= half + 1e-9; s += step) { line([s, -half, 0], [s, half, 0]); line([-half, s, 0], [half, s, 0]); }
  }

  const FACES = [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]];

  function items(project) {
    const list = [];
    scene.capsules[frame].forEach(([p, q], s) => {
      const a = project(p), b = project(q), r = scene.radius[s], tip = scene.tip[s];
      list.push({
        depth: (a.depth + b.depth) / 2, draw() {
          hull(context, a, b, r * a.scale, r * b.scale);
          context.fillStyle = shaded(a, b, r * a.scale, r * b.scale, color(tip ? '--tip' : '--arm'), color(tip ? '--tip-dark' : '--arm-dark'));
          context.fill(); context.lineWidth = 0.8; context.strokeStyle = color(tip ? '--tip-dark' : '--arm-dark'); context.stroke();
        },
      });
    });
    scene.boxes.forEach(box => FACES.forEach(face => {
      const points = face.map(i => project(box.corners[i]));
      list.push({
        depth: points.reduce((sum, p) => sum + p.depth, 0) / 4, draw() {
          context.beginPath(); points.forEach((p, i) => i ? context.lineTo(p.x, p.y) : context.moveTo(p.x, p.y)); context.closePath();
          context.globalAlpha = 0.34; context.fillStyle = color('--box'); context.fill();
          context.globalAlpha = 0.9; context.strokeStyle = color('--box'); context.lineWidth = 1; context.stroke(); context.globalAlpha = 1;
        },
      });
    }));
    return list.sort((a, b) => b.depth - a.depth);
  }

  // Overlapping hulls are filled on a layer of their own, so that all of them are equally pale.
  function reach(project, steps, alpha) {
    layerContext.setTransform(1, 0, 0, 1, 0, 0); layerContext.clearRect(0, 0, layer.width, layer.height);
    layerContext.scale(devicePixelRatio || 1, devicePixelRatio || 1);
    layerContext.fillStyle = color('--reach');
    steps.forEach(step => step.forEach(([p, q, rp, rq]) => {
      const a = project(p), b = project(q);
      hull(layerContext, a, b, rp * a.scale, rq * b.scale); layerContext.fill();
    }));
    context.save(); context.setTransform(1, 0, 0, 1, 0, 0); context.globalAlpha = alpha; context.drawImage(layer, 0, 0); context.restore();
  }

  function occupancyAt(time) {
    let found = null;
    scene.occupancy.forEach(plan => { if (time >= plan.start - 1e-9) found = plan; });
    if (!found) return null;
    const since = time - found.start;
    let step = found.ends.findIndex(end => since <= end + 1e-9);
    if (step < 0) step = found.ends.length - 1;
    return { plan: found, step };
  }

  function draw() {
    const ratio = window.devicePixelRatio || 1;
    width = canvas.clientWidth; height = canvas.clientHeight;
    if (!width || !height) return;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = layer.width = Math.round(width * ratio); canvas.height = layer.height = Math.round(height * ratio);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0); context.clearRect(0, 0, width, height);
    context.lineJoin = 'round';
    const project = camera();
    floor(project);
    const reached = occupancyAt(scene.time[frame]);
    if (reached && showPlan) reach(project, reached.plan.steps, 0.10);
    if (reached) reach(project, [reached.plan.steps[reached.step]], 0.30);
    items(project).forEach(item => item.draw());
  }

  let held = null;
  canvas.addEventListener('pointerdown', event => { held = [event.clientX, event.clientY]; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener('pointerup', () => { held = null; });
  canvas.addEventListener('pointermove', event => {
    if (!held) return;
    view.azimuth -= (event.clientX - held[0]) * 0.008;
    view.elevation = Math.max(-0.2, Math.min(1.5, view.elevation + (event.clientY - held[1]) * 0.008));
    held = [event.clientX, event.clientY]; draw();
  });
  canvas.addEventListener('wheel', event => { event.preventDefault(); view.distance *= Math.exp(event.deltaY * 0.001); draw(); }, { passive: false });
  canvas.addEventListener('dblclick', () => { reset(); draw(); });
  window.addEventListener('resize', draw);
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  return {
    show(index) { frame = index; draw(); },
    showPlan(yes) { showPlan = yes; draw(); },
  };
}

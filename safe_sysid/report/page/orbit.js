'use strict';
// The camera: turned, moved and brought nearer by pointer, fingers, wheel and keys; the page still scrolls past it.

const PRESETS = {
  '1': ['from the side', -0.95, 0.34], '2': ['front', 0.0, 0.12], '3': ['left', -Math.PI / 2, 0.12], '4': ['top', -Math.PI / 2, 1.5],
};

function makeOrbit(canvas, camera, home, changed) {
  const view = { azimuth: 0, elevation: 0, distance: 1, target: [0, 0, 0] };
  const place = () => {
    const c = Math.cos(view.elevation), back = [c * Math.cos(view.azimuth), c * Math.sin(view.azimuth), Math.sin(view.elevation)];
    camera.position.set(...view.target.map((t, i) => t + view.distance * back[i]));
    camera.up.set(0, 0, 1); camera.lookAt(...view.target);
    changed();
  };
  const preset = key => {
    [, view.azimuth, view.elevation] = PRESETS[key];
    view.target = home.target.slice();
    const narrow = Math.max(1, 1.05 / Math.max(camera.aspect, 0.3));  // a phone is upright: step back
    view.distance = home.distance * narrow;
    place();
  };
  const turn = (dx, dy) => {
    view.azimuth -= dx * 0.008; view.elevation = Math.max(-0.3, Math.min(1.55, view.elevation + dy * 0.008));
    place();
  };
  const move = (dx, dy) => {
    const size = 1.0 * view.distance / Math.max(canvas.clientHeight, 1), ca = Math.cos(view.azimuth), sa = Math.sin(view.azimuth), se = Math.sin(view.elevation), ce = Math.cos(view.elevation);
    const right = [-sa, ca, 0], up = [-se * ca, -se * sa, ce];
    view.target = view.target.map((t, i) => t - size * dx * right[i] + size * dy * up[i]);
    place();
  };
  const zoom = factor => { view.distance = Math.max(0.15 * home.distance, Math.min(4 * home.distance, view.distance * factor)); place(); };

  const fingers = new Map();
  const spread = () => { const [p, q] = [...fingers.values()]; return { x: (p[0] + q[0]) / 2, y: (p[1] + q[1]) / 2, apart: Math.hypot(p[0] - q[0], p[1] - q[1]) }; };
  canvas.addEventListener('pointerdown', event => {
    fingers.set(event.pointerId, [event.clientX, event.clientY]); canvas.setPointerCapture(event.pointerId);
  });
  const lift = event => fingers.delete(event.pointerId);
  canvas.addEventListener('pointerup', lift); canvas.addEventListener('pointercancel', lift);
  canvas.addEventListener('pointermove', event => {
    const from = fingers.get(event.pointerId);
    if (!from) return;
    const before = fingers.size === 2 ? spread() : null;
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
    const dx = event.clientX - from[0], dy = event.clientY - from[1];
    if (before) {
      const now = spread();
      move(now.x - before.x, now.y - before.y);
      if (now.apart > 1 && before.apart > 1) zoom(before.apart / now.apart);
    } else if (event.shiftKey || event.buttons === 2) move(dx, dy); else turn(dx, dy);
  });
  canvas.addEventListener('contextmenu', event => event.preventDefault());
  // A wheel scrolls the page; with Ctrl, or once the scene was clicked, it brings the scene nearer.
  canvas.addEventListener('wheel', event => {
    if (!event.ctrlKey && document.activeElement !== canvas) return;
    event.preventDefault(); zoom(Math.exp(event.deltaY * 0.001));
  }, { passive: false });
  canvas.addEventListener('dblclick', () => preset('1'));
  canvas.addEventListener('keydown', event => {
    const arrows = { ArrowLeft: [-12, 0], ArrowRight: [12, 0], ArrowUp: [0, -12], ArrowDown: [0, 12] };
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key in arrows) { if (event.shiftKey) move(...arrows[event.key]); else turn(...arrows[event.key]); }
    else if (event.key === '+' || event.key === '=') zoom(0.9);
    else if (event.key === '-') zoom(1 / 0.9);
    else if (event.key in PRESETS) preset(event.key);
    else if (event.key === 'Escape') canvas.blur();
    else return;
    event.preventDefault();
  });
  return { preset, turn, view };
}

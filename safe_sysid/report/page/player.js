'use strict';
// The scene with its slider, and everything that can be switched.

const SPEEDS = [['0.1×', 0.1], ['0.25×', 0.25], ['0.5×', 0.5], ['1×', 1], ['2×', 2]];

function hasWebGL() {
  try { return !!document.createElement('canvas').getContext('webgl2'); } catch { return false; }
}

function buildScene(scene, main, clock) {
  const card = html('div', 'viewer card', null, main), stage = html('div', 'stage', null, card);
  let viewer = null;
  if (hasWebGL()) {
    const canvas = html('canvas', '', null, stage), overlay = html('div', 'overlay', null, stage);
    canvas.id = 'arm'; canvas.tabIndex = 0; canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', 'the arm in 3D: arrows turn it, with Shift they move it, plus and minus zoom, 1 to 4 are views, space plays');
    viewer = makeViewer(canvas, overlay, scene);
  } else html('p', 'missing', 'This browser has no WebGL 2, so there is no picture of the arm in 3D. The slider, the plots and the tables work.', stage);
  const bar = html('div', 'play', null, card), button = html('button', '', 'Play', bar), slot = html('span', 'slot', null, bar);
  const slider = html('input', '', null, slot), marks = html('span', 'marks', null, slot), shown = html('output', '', '', bar);
  button.type = 'button'; button.id = 'play'; slider.type = 'range'; slider.id = 'time'; slider.step = 'any';
  slider.setAttribute('aria-label', 'time [s]');
  scene.marks.forEach(([at, name]) => { const mark = html('i', '', null, marks); mark.title = `${name}, from ${at.toFixed(1)} s`; mark.style.left = `${100 * (at - clock.first) / Math.max(clock.last - clock.first, 1e-9)}%`; });
  const speed = html('select', '', null, bar); speed.setAttribute('aria-label', 'speed'); speed.id = 'speed';
  SPEEDS.forEach(([name, factor]) => { const option = html('option', '', name, speed); option.value = factor; if (factor === 1) option.selected = true; });
  if (viewer) choices(scene, viewer, card, stage);
  if (viewer && scene.joints) makeJoints(viewer, scene, card, clock);

  let playing = null;
  const stop = () => { if (playing) cancelAnimationFrame(playing.id); playing = null; button.textContent = 'Play'; if (viewer) viewer.rest(); };
  const step = now => {
    const time = clock.time + (now - playing.since) / 1000 * Number(speed.value);
    playing.since = now;
    if (viewer) viewer.pace(now);
    if (time >= clock.last) { clock.seek(clock.last); stop(); return; }
    clock.seek(time); playing.id = requestAnimationFrame(step);
  };
  const play = () => {
    if (playing) { stop(); return; }
    if (clock.time >= clock.last - 1e-6) clock.seek(clock.first);
    playing = { since: performance.now() }; playing.id = requestAnimationFrame(step); button.textContent = 'Pause';
  };
  button.addEventListener('click', play);
  slider.addEventListener('input', () => clock.seek(Number(slider.value)));
  stage.addEventListener('keydown', event => {
    const jump = { ',': -0.05, '.': 0.05 }[event.key];
    if (event.key === ' ') play(); else if (jump) clock.seek(clock.time + jump);
    else if (event.key === 'Home') clock.seek(clock.first); else if (event.key === 'End') clock.seek(clock.last); else return;
    event.preventDefault();
  });
  clock.listen({
    seek(time) { if (viewer) viewer.show(time); slider.value = time; shown.textContent = `${time.toFixed(2)} s`; slider.setAttribute('aria-valuetext', shown.textContent); },
    hover(time) { if (viewer && !playing) viewer.show(time === null ? clock.time : time); },
    extend(begin, end) { slider.min = begin; slider.max = end; },
  });
  clock.extend(clock.first, clock.last);
  window.viewer = viewer;  // for whoever wants to look closer, and for tests
  return viewer;
}

// Views, and what is drawn: each switch is also the key to a colour.
function choices(scene, viewer, card, stage) {
  const row = html('div', 'choices', null, card), views = html('span', 'views', null, row);
  Object.entries(PRESETS).forEach(([key, [name]]) => { const made = html('button', '', name, views); made.type = 'button'; made.title = `key ${key}`; made.addEventListener('click', () => viewer.preset(key)); });
  const offered = [
    ['plan', 'reachable on the whole plan', 'reach', scene.occupancy.length || scene.live], ['now', 'reachable now, whatever it holds', 'reach', scene.occupancy.length || scene.live],
    ['held', 'what is known of what it holds', 'held', scene.held || scene.live], ['nearest', 'smallest distance', 'near', scene.nearest], ['beside', scene.beside && scene.beside.name, 'other', scene.beside],
    ['capsules', scene.joints ? 'capsules' : 'capsules instead of meshes', scene.joints ? 'reach' : 'arm', scene.shape.meshes.length],
    ['meshes', 'meshes', 'arm', scene.joints && scene.shape.meshes.length], ['gaps', 'where a capsule reaches farthest beyond its hull', 'near', scene.joints],
  ];
  offered.filter(each => each[3]).forEach(([key, words, tone]) => {
    const label = html('label', '', null, row), box = html('input', '', null, label), mark = html('i', key === 'plan' ? 'pale' : '', null, label);
    box.type = 'checkbox'; box.checked = viewer.shown[key]; box.id = `show-${key}`; mark.style.background = `var(--${tone})`; label.append(words);
    box.addEventListener('change', () => viewer.toggle(key, box.checked));
  });
  const keys = html('div', 'keys'), entry = (words, tone) => { const line = html('div', '', null, keys), mark = html('i', tone === 'scale' ? 'scale' : '', null, line); if (tone !== 'scale') mark.style.background = `var(--${tone})`; line.append(words); };
  entry('arm', 'arm'); entry('end effector', 'tip');
  if (scene.boxes.length || scene.live) entry('obstacles', 'box');
  if (scene.use) entry('torque of a joint, 0 to 100 % of its limit', 'scale');
  if (scene.joints) { entry('capsules of a listed pair that overlap', 'bad'); entry('nearer than 3 cm', 'use-half'); entry('other capsules', 'reach'); }
  if (scene.held || scene.live) { entry('mass, and a box that it is in', 'held'); entry('box that its centre is in', 'com'); }
  card.insertBefore(keys, row);
  const picture = html('button', 'save-scene', 'PNG', stage); picture.type = 'button'; picture.title = 'save the picture as PNG';
  picture.addEventListener('click', () => { viewer.draw(2); document.getElementById('arm').toBlob(blob => save('scene.png', blob)); });
  html('p', 'hint', 'Drag turns, Shift and drag (two fingers) moves, Ctrl and wheel (pinch) zooms; keys: arrows, + −, 1–4, space.', card);
}

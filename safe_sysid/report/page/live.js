'use strict';
// A run while it goes on: the scene and what is known, told by the server of this page, back to what it still knows.

function watch(data) {
  const main = document.querySelector('main'), header = html('header', '', null, main);
  html('h1', '', data.title, header);
  const state = html('p', 'live', data.waiting, header);
  state.setAttribute('role', 'status');
  const trouble = html('div', 'verdict bad', '', header); trouble.hidden = true;
  const facts = html('div', 'facts', null, main), values = {};
  [['mode', 'what the loop does'], ['mass', 'mass of what the last joint moves'], ['near', 'smallest distance to an obstacle'], ['torque', 'largest torque, share of its limit'], ['plans', 'plans followed while somebody watched']].forEach(([key, label]) => {
    const box = html('div', 'fact', null, facts); values[key] = html('div', 'value', '–', box); html('div', 'label', label, box);
  });
  let scene = null, viewer = null, clock = null, bars = null, follows = true, own = false, heard = 0;
  const modes = [], plans = [];

  const begin = (told, arm) => {
    if (viewer) { location.reload(); return; }
    scene = told; clock = makeClock(scene.motion.time[0], scene.motion.time[0]);
    clock.listen({ seek(time) { if (!own) follows = time >= clock.last - 0.1; now.hidden = follows; tell(time); } });
    const now = html('button', 'now', 'Live', null); now.type = 'button'; now.id = 'live'; now.title = 'back to what happens now';
    now.addEventListener('click', () => { follows = true; goTo(clock.last); });
    viewer = buildScene({ ...scene, marks: [], beside: null, held: null, live: true }, main, clock);
    document.querySelector('.play').append(now); now.hidden = true;
    main.append(facts);
    document.title = `${arm.name}: ${data.title}`; state.textContent = '';
    bars = { labels: arm.labels, units: arm.units, time: [], lower: [], nominal: [], upper: [], truth: null, words: ['when first heard', 'possible now', 'nominal'] };
  };
  const goTo = time => { own = true; clock.seek(time); own = false; };

  function tell(time) {
    const of = list => { let found = null; list.forEach(each => { if (each[0] <= time + 1e-9) found = each[1]; }); return found; };
    values.mode.textContent = of(modes) || '–'; values.plans.textContent = of(plans) || '0';
    if (bars.time.length) { const k = momentOf(bars.time, time).index; values.mass.textContent = `${figure3(bars.lower[k][0])} … ${figure3(bars.upper[k][0])} kg`; }
    const read = viewer && viewer.read(time);
    if (!read) return;
    values.near.textContent = isFinite(read.distance) ? `${(100 * read.distance).toFixed(1)} cm` : '–';
    values.torque.textContent = read.use === null ? '–' : `${(100 * read.use).toFixed(0)} %`;
  }

  function take(event) {
    heard = performance.now();
    if (event.kind === 'scene') { begin(event.scene, event.arm); return; }
    if (event.kind === 'trouble') { trouble.hidden = false; trouble.replaceChildren(); html('b', '', 'Not understood:', trouble); trouble.append(' ' + event.trouble); return; }
    if (!clock) return;
    if (event.kind === 'mode') modes.push(event.mode);
    if (event.kind === 'plan') plans.push(event.plan);
    if (event.kind === 'bounds') {
      ['time', 'lower', 'nominal', 'upper'].forEach(key => bars[key].push(event.bounds[key]));
      if (bars.time.length === 1) drawBars(bars, main, clock);
    }
    if (!event.part || !viewer) return;
    viewer.grow(event.part);
    if (!event.part.motion) { viewer.ask(); return; }
    const times = viewer.times();
    clock.extend(times[0], times[times.length - 1]);
    if (follows) { viewer.pace(heard); goTo(clock.last); }
  }

  // Texts that are told together are drawn together.
  const waiting = [];
  let asked = 0;
  const source = new EventSource('events');
  source.onmessage = message => {
    waiting.push(JSON.parse(message.data));
    if (!asked) asked = setTimeout(() => { asked = 0; waiting.splice(0).forEach(take); }, 0);
  };
  source.onopen = () => { if (scene && state.dataset.cut) location.reload(); };
  source.onerror = () => { state.dataset.cut = 'yes'; state.textContent = 'safe-sysid watch has ended; this is the last that it told.'; };
  setInterval(() => {
    if (state.dataset.cut || !scene) return;
    const silent = (performance.now() - heard) / 1000;
    state.textContent = silent > 2 ? `Nothing has come for ${silent.toFixed(0)} s.` : '';
  }, 1000);
}

watch(JSON.parse(document.getElementById('data').textContent));

import { element, find } from './element.js';
import UPlot from './uplot.js';
import { clockWords, countWords, durationWords, now } from './words.js';

/** The lanes from the bottom of the pile to its top, in words. */
const lanes = [
  { lane: 'sweep', label: 'Complete reads' },
  { lane: 'newest', label: 'Newest records' },
  { lane: 'edit', label: 'People’s edits' },
  { lane: 'settle', label: 'Looks after creates' },
];
const hourMs = 3_600_000;
/** So many samples are one minute, which is what the CRM counts in. */
const minuteSamples = 6;
const height = 150;

/** @type {{ at: number, sent: Record<string, number>, allowed: number, toCrmMs?: number, toTableMs?: number }[]} */
let samples = [];
/** The plots that are drawn, to be thrown away when they are drawn anew. */
let drawn = [];

/** Adds what the daemon measured since the last time. */
export function addSamples(news) {
  const fresh = news.filter(({ at }) => at > (samples.at(-1)?.at ?? Number.NEGATIVE_INFINITY));
  samples = [...samples, ...fresh].filter(({ at }) => at > now() - hourMs);
  drawPlots();
}

/** Draws everything, in the colours and the width of now. */
export function drawPlots() {
  for (const plot of drawn) plot.destroy();
  drawn = [
    drawRequests(),
    drawLag('#plot-to-crm', 'Edit in the sheet → CRM has it, at most', 'toCrmMs'),
    drawLag('#plot-to-sheet', 'Change in the CRM → sheet shows it, at most', 'toTableMs'),
  ];
}

const widths = new ResizeObserver(() => {
  for (const plot of drawn) {
    const width = plot.root.parentElement.clientWidth;
    if (width > 0 && width !== plot.width) plot.setSize({ width, height });
  }
});

/** A colour of the style sheet as a canvas takes it: worked out for the theme of now. */
function color(name) {
  const probe = find('#plots');
  probe.style.color = `var(${name})`;
  const worked = getComputedStyle(probe).color;
  probe.style.color = '';
  return worked;
}

const axis = (values) => ({
  stroke: color('--quiet'),
  font: '11px system-ui, sans-serif',
  grid: { stroke: color('--line'), width: 1 },
  ticks: { show: false },
  ...values,
});

const timeAxis = () =>
  axis({ space: 70, size: 26, values: (_plot, marks) => marks.map((mark) => clockWords(mark * 1_000)) });

/** A plot with a heading, words for those who do not see it, and a legend that tells the values under the pointer. */
function draw(selector, { title, summary, rows }, options, series) {
  const place = find(selector);
  const canvas = element('div', { role: 'img', 'aria-label': `${title}, last hour. ${summary}` });
  const legend = element('dl.legend');
  const showValues = (index) =>
    legend.replaceChildren(
      ...rows(index).map(([name, value, mark]) =>
        element('div', {}, element(`dt${mark ? `.${mark}` : ''}`, {}, name), element('dd', {}, value)),
      ),
    );
  place.replaceChildren(element('h3', {}, title), canvas, legend);
  showValues(null);
  const plot = new UPlot(
    {
      width: Math.max(200, canvas.clientWidth),
      height,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
      padding: [8, 4, 0, 0],
      hooks: { setCursor: [(of) => showValues(of.cursor.idx ?? null)] },
      ...options,
      scales: { x: { range: () => [(now() - hourMs) / 1_000, now() / 1_000] }, ...options.scales },
    },
    [samples.map(({ at }) => at / 1_000), ...series],
    canvas,
  );
  widths.observe(canvas);
  return plot;
}

/** The sum over the last minute at every sample. */
const perMinute = (values) =>
  values.map((_value, index) =>
    values.slice(Math.max(0, index - minuteSamples + 1), index + 1).reduce((sum, value) => sum + value, 0),
  );

const largest = (values) => values.reduce((most, value) => Math.max(most, value), 0);

function drawRequests() {
  const rates = lanes.map(({ lane }) => perMinute(samples.map(({ sent }) => sent[lane])));
  const piled = rates.map((_rate, lane) =>
    samples.map((_sample, index) => rates.slice(0, lane + 1).reduce((sum, rate) => sum + rate[index], 0)),
  );
  const allowed = samples.map((sample) => sample.allowed);
  const totals = piled.at(-1);
  const last = samples.length - 1;
  const rows = (pointed) => {
    const index = pointed ?? last;
    const when = index < 0 ? '–' : pointed === null ? 'last minute' : clockWords(samples[index].at);
    return [
      ...lanes
        .map(({ lane, label }, place) => [label, countWords(rates[place][index] ?? 0), `lane-${lane}`])
        .reverse(),
      ['Allowed', countWords(allowed[index] ?? 0), 'allowed'],
      ['When', when, ''],
    ];
  };
  const lines = lanes.map(({ lane }) => ({
    stroke: color(`--lane-${lane}`),
    fill: color(`--lane-${lane}`),
    width: 1,
    points: { show: false },
  }));
  const text = {
    title: 'Requests to the CRM in a minute',
    summary: `Now ${countWords(totals[last] ?? 0)} of ${countWords(allowed[last] ?? 0)} allowed, at most ${countWords(largest(totals))}.`,
    rows,
  };
  // Higher piles are drawn first, so that the lower ones stand before them.
  const limit = { stroke: color('--text'), width: 1, dash: [4, 4], points: { show: false } };
  const options = {
    series: [{}, ...lines.reverse(), limit],
    scales: { y: { range: (_plot, _low, high) => [0, Math.max(10, high * 1.08)] } },
    axes: [timeAxis(), axis({ size: 38 })],
  };
  return draw('#plot-requests', text, options, [...piled.reverse(), allowed]);
}

function drawLag(selector, title, name) {
  const values = samples.map((sample) => sample[name] ?? null);
  const known = values.filter((value) => value !== null);
  const words = (value) => (value == null ? '–' : durationWords(value));
  const rows = (pointed) => [
    pointed === null
      ? ['Last', words(known.at(-1)), '']
      : [clockWords(samples[pointed].at), words(values[pointed]), ''],
    ['Longest', words(known.length > 0 ? largest(known) : undefined), ''],
  ];
  const summary =
    known.length === 0 ? 'There was none.' : `Last ${words(known.at(-1))}, longest ${words(largest(known))}.`;
  const bars = {
    stroke: color('--accent'),
    fill: color('--accent'),
    width: 1,
    paths: UPlot.paths.bars({ size: [1, 6, 3] }),
    points: { show: false },
  };
  const options = {
    series: [{}, bars],
    scales: { y: { range: (_plot, _low, high) => [0, Math.max(2_000, (high ?? 0) * 1.1)] } },
    axes: [
      timeAxis(),
      axis({
        size: 50,
        values: (_plot, marks) => marks.map((mark) => (mark === 0 ? '0' : durationWords(mark))),
      }),
    ],
  };
  return draw(selector, { title, summary, rows }, options, [values]);
}

/**
 * Draws the ratios of a run: `node --import tsx spec/bench/plot.ts RESULTS.json docs/speed.svg`, of what `npm run bench -- --json` wrote.
 * The picture has its own background, light or dark as the reader likes it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { RIVALS, type Results, type Rival, type Row } from './results.js';

const WIDTH = 860;
const LABELS = 290;
const RIGHT = 56;
const TOP = 92;
const BAR = 11;
const ROW = 2 * BAR + 12;
const BOTTOM = 66;
/** As wide as a number is. */
const VALUE = 32;

const LEGEND: Readonly<Record<Rival, string>> = {
  sdk: 'to the official SDK’s client',
  undici: 'to undici + JSON.parse (+ eventsource-parser), nothing checked',
};

interface Colours {
  readonly back: string;
  readonly text: string;
  readonly quiet: string;
  readonly grid: string;
  readonly rivals: Readonly<Record<Rival, string>>;
}

const LIGHT: Colours = { back: '#ffffff', text: '#1f2328', quiet: '#59636e', grid: '#d1d9e0', rivals: { sdk: '#0969da', undici: '#bc4c00' } };
const DARK: Colours = { back: '#0d1117', text: '#f0f6fc', quiet: '#9198a1', grid: '#3d444d', rivals: { sdk: '#4493f8', undici: '#db6d28' } };

/** Plain rules, without variables: not everything that shows an SVG knows those. */
function rules({ back, text: ink, quiet, grid, rivals }: Colours): string {
  return [
    `.back { fill: ${back} } text { fill: ${ink} } .quiet { fill: ${quiet} } .grid { stroke: ${grid} } .one, .goal { stroke: ${ink} }`,
    ...RIVALS.map((rival) => `.${rival} { fill: ${rivals[rival]} }`),
  ].join(' ');
}

const STYLE = `
  text { font: 12px system-ui, sans-serif } .title { font-size: 16px; font-weight: 600 } .quiet { font-size: 11px } .goal { stroke-width: 2 }
  ${rules(LIGHT)}
  @media (prefers-color-scheme: dark) { ${rules(DARK)} }
`;

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function text(x: number, y: number, content: string, attributes = ''): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${escape(content)}</text>`;
}

function rect(rival: Rival, x: number, y: number, width: number, height: number): string {
  return `<rect class="${rival}" x="${String(x)}" y="${String(y)}" width="${width.toFixed(1)}" height="${String(height)}"/>`;
}

function vertical(x: number, from: number, to: number, kind: 'grid' | 'one' | 'goal'): string {
  return `<line class="${kind}" x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${String(from)}" y2="${String(to)}"/>`;
}

/** What is compared, if it is not how much is done in a time. */
function labelOf({ name, figures }: Row): string {
  const { unit, better } = figures[0]!;
  return better === 'more' ? name : `${name} (${unit})`;
}

/** Where the number stands: behind the bar, or behind the mark of the goal if there is no room between them. */
function valueAt(bar: number, goal: number): number {
  return (goal > bar - VALUE && goal < bar + VALUE ? Math.max(bar, goal) : bar) + 5;
}

export function svgOf({ rows, date, versions, machine, rounds, quick }: Results): string {
  const height = TOP + rows.length * ROW + BOTTOM;
  const end = TOP + rows.length * ROW;
  const largest = Math.max(1, ...rows.flatMap(({ figures, goals }) => [
    ...RIVALS.map((rival) => figures[0]!.ratios[rival]),
    ...goals.filter(({ as }) => as === 'times').map(({ goal }) => goal),
  ]));
  const at = (ratio: number): number => LABELS + ((WIDTH - LABELS - RIGHT) * ratio) / largest;
  const ticks = Array.from({ length: Math.floor(largest) + 1 }, (_, i) => i);
  const bars = rows.flatMap((row, i) => {
    const y = TOP + i * ROW + 6;
    return [
      text(LABELS - 10, y + BAR + 4, labelOf(row), 'text-anchor="end"'),
      ...RIVALS.flatMap((rival, j) => {
        const ratio = row.figures[0]!.ratios[rival];
        const top = y + j * BAR;
        const goal = row.goals.find(({ against }) => against === rival)?.goal;
        return [
          rect(rival, LABELS, top, at(ratio) - LABELS, BAR - 1),
          ...(goal === undefined ? [] : [vertical(at(goal), top - 1, top + BAR, 'goal')]),
          text(valueAt(at(ratio), at(goal ?? 0)), top + BAR - 2, ratio.toFixed(2), 'class="quiet"'),
        ];
      }),
    ];
  });
  const size = [String(WIDTH), String(height)] as const;
  const { package: version, node, undici, sdk } = versions;
  const medians = `medians of ${String(rounds)} rounds${quick ? ', rough' : ''}`;
  const run = `a2a-strict ${version}, Node ${node}, undici ${undici}, SDK ${sdk}; ${medians}`;
  const where = `${machine.cpu}, ${String(machine.cores)} cores, ${String(machine.memoryGiB)} GiB, ${machine.system}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${size[0]}" height="${size[1]}" viewBox="0 0 ${size.join(' ')}">`,
    '<title>How many times as fast as others StrictClient is, every check on</title>',
    `<style>${STYLE}</style>`,
    '<rect class="back" width="100%" height="100%"/>',
    text(16, 28, 'StrictClient, every check on: how many times as fast', 'class="title"'),
    ...RIVALS.flatMap((rival, i) => [
      rect(rival, 16, 42 + 18 * i, 12, 12),
      text(34, 52 + 18 * i, LEGEND[rival]),
    ]),
    text(WIDTH - 16, 52, '| goal', 'text-anchor="end" class="quiet"'),
    ...ticks.flatMap((tick) => [
      vertical(at(tick), TOP, end, tick === 1 ? 'one' : 'grid'),
      text(at(tick), end + 16, `${String(tick)}x`, 'text-anchor="middle" class="quiet"'),
    ]),
    ...bars,
    text(16, height - 24, `${date.slice(0, 10)}: ${run}`, 'class="quiet"'),
    text(16, height - 9, where, 'class="quiet"'),
    '</svg>',
    '',
  ].join('\n');
}

if (import.meta.main) {
  const [from, to] = process.argv.slice(2);
  if (from === undefined || to === undefined) {
    console.error('wants the file of the results and that of the picture');
    process.exit(2);
  }
  writeFileSync(to, svgOf(JSON.parse(readFileSync(from, 'utf8')) as Results));
}

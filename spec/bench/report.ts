/** The results as a table for people. */
import type { Load, PackageSize } from './footprint.js';
import type { PeerName } from './peers.js';
import { goalText, missed, RIVALS, type GrowthRow, type Results, type Row } from './results.js';

const PEERS: readonly PeerName[] = ['strict', 'strict-plain', 'sdk', 'undici', 'bytes'];
const FIRST_WIDTH = 20;
const WIDTH = 13;

function line(first: string, cells: readonly string[]): string {
  return `  ${first}`.padEnd(FIRST_WIDTH) + cells.map((cell) => cell.padStart(WIDTH)).join('');
}

function number(value: number | undefined): string {
  if (value === undefined) return '';
  const digits = Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0;
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

const percent = (value: number | undefined): string => (value === undefined ? '' : `${(100 * value).toFixed(0)} %`);

type Head = Pick<Results, 'versions' | 'machine' | 'rounds' | 'quick' | 'date'>;

export function headText({ versions, machine, rounds, quick, date }: Head): string {
  return [
    `a2a-strict ${versions.package}, Node ${versions.node}, undici ${versions.undici}, SDK ${versions.sdk}; ${date.slice(0, 10)}.`,
    `${machine.cpu}, ${String(machine.cores)} cores, ${String(machine.memoryGiB)} GiB, ${machine.system}.`,
    `Medians of ${String(rounds)} rounds${quick ? ', each too short to be quoted' : ''}.`,
    'A ratio says how many times as good as that peer StrictClient is.',
    'strict: StrictClient, every check on. strict-plain: { repeatRecognition: false }. sdk: the official SDK\'s transport.',
    'undici: undici.request, eventsource-parser and JSON.parse, nothing checked. bytes: counts bytes only, the limit.',
    '',
    line('', [...PEERS, ...RIVALS.map((rival) => `to ${rival}`)]),
  ].join('\n');
}

export function rowText({ name, figures, server, goals }: Row): string {
  return [
    name,
    ...figures.map(({ unit, medians, ratios }) =>
      line(unit, [...PEERS.map((peer) => number(medians[peer])), ...RIVALS.map((rival) => `${ratios[rival].toFixed(2)}x`)]),
    ),
    line('server busy', PEERS.map((peer) => percent(server[peer]))),
    ...goals.map((goal) => `  ${goal.met ? 'met' : 'MISSED'}: ${goalText(goal)}`),
  ].join('\n');
}

export function growthText({ what, unit, sizes, growth, linear }: GrowthRow): string {
  return [
    `cost by ${what}, ${unit}`,
    ...sizes.map(({ label, cost }) => `  ${label.padEnd(24)}${number(cost).padStart(10)}`),
    `  ${linear ? 'linear' : 'MISSED: not linear'}: at the largest size one costs ${growth.toFixed(2)} times what it costs at the smallest`,
  ].join('\n');
}

export function loadsText(loads: readonly Load[]): string {
  const columns = (first: string, cells: readonly string[]): string =>
    `  ${first.padEnd(24)}${cells.map((cell) => cell.padStart(12)).join('')}`;
  return [
    'loading, dependencies included; KiB of source',
    columns('', ['ms', 'RSS MiB', 'heap MiB', 'KiB', 'own KiB', 'own gzip']),
    ...loads.map(({ specifier, milliseconds, rssMiB, heapMiB, allKiB, ownKiB, ownGzipKiB }) =>
      columns(specifier, [milliseconds, rssMiB, heapMiB, allKiB, ownKiB, ownGzipKiB].map(number)),
    ),
  ].join('\n');
}

export function packageText({ packedKiB, unpackedKiB, files }: PackageSize): string {
  return `package: ${number(packedKiB)} KiB packed, ${number(unpackedKiB)} KiB unpacked, ${String(files)} files`;
}

export function closingText(results: Pick<Results, 'rows' | 'growth' | 'seconds'>): string {
  const misses = missed(results);
  return [
    `${results.seconds.toFixed(0)} s. ${misses.length === 0 ? 'Every goal is met.' : 'Goals missed:'}`,
    ...misses.map((sentence) => `  ${sentence}`),
  ].join('\n');
}

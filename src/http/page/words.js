import { element } from './element.js';

const counts = new Intl.NumberFormat('en');

export const countWords = (count) => counts.format(count);

/** `one, ones`: 1 edit, 2 edits. */
export const countOf = (count, one, many = `${one}s`) => `${countWords(count)} ${count === 1 ? one : many}`;

/** `capitalize('trash')` is `Trash`. */
export const capitalize = (word) => word.slice(0, 1).toUpperCase() + word.slice(1);

/** A length of time as people say it, never finer than it is meant. */
export function durationWords(ms) {
  const seconds = Math.max(0, ms) / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}

/** How long something is ago, coarse enough to be read while it changes. */
function agoWords(ms) {
  if (ms < 2_000) return 'just now';
  if (ms < 60_000) return `${Math.floor(ms / 1_000)} s ago`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ago`;
  if (ms < 172_800_000) return `${Math.floor(ms / 3_600_000)} h ago`;
  return `${Math.floor(ms / 86_400_000)} days ago`;
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** 14:03, or 12 Nov, 14:03 when that was another day. */
export function clockWords(at) {
  const time = clock.format(at);
  return day.format(at) === day.format(now()) ? time : `${day.format(at)}, ${time}`;
}

/** How far the daemon's clock is ahead of this machine's. */
let aheadMs = 0;
export const now = () => Date.now() + aheadMs;
export function setNow(daemonNow) {
  aheadMs = daemonNow - Date.now();
}

/** A moment that says how long it is ago, and goes on saying it. */
export function ago(at) {
  const made = element(
    'time',
    { datetime: new Date(at).toISOString(), title: exact.format(at) },
    agoWords(now() - at),
  );
  made.dataset.at = String(at);
  return made;
}

/** Brings every moment of the page up to date. */
export function refreshAges() {
  for (const time of document.querySelectorAll('time[data-at]')) {
    const words = agoWords(now() - Number(time.dataset.at));
    if (time.textContent !== words) time.textContent = words;
  }
}

/** What the daemon said of why it does not do it. Where something else failed it is `undefined`: a browser's own words are for nobody. */
export const saidIn = (error) =>
  error.constructor === Error && error.message !== '' ? error.message : undefined;

import { noteLatest, setUpChanges } from './changes.js';
import { command, setUpAccess } from './commands.js';
import { tell } from './dialog.js';
import { find } from './element.js';
import { addSamples, drawPlots } from './plots.js';
import { showProgress } from './progress.js';
import { showProblems, showStanding } from './standing.js';
import { listen } from './stream.js';
import { showTabs } from './tabs.js';
import { setUpTheme } from './theme.js';
import { showWaiting } from './waiting.js';
import { clockWords, refreshAges, setNow } from './words.js';

let lostAt;

function showLine(state, problem) {
  const line = find('#line');
  const isLive = state === 'live';
  lostAt = isLive ? undefined : (lostAt ?? Date.now());
  line.dataset.state = state;
  line.textContent = isLive
    ? 'Live'
    : `Not connected since ${clockWords(lostAt)}: what you see is from then. ${problem ?? 'Trying again…'}`;
  document.body.classList.toggle('stale', !isLive);
}

function showStatus(status) {
  setNow(status.now);
  showStanding(status);
  showProblems(status);
  showProgress(status);
  showWaiting(status);
  showTabs(status);
  noteLatest(status.latest);
}

find('#resync').addEventListener('click', async () => {
  if ((await command('api/resync')) !== undefined) tell('Everything is read again.');
});
setUpAccess();
setUpChanges();
setUpTheme(find('#theme'), drawPlots);
setInterval(refreshAges, 1_000);
void listen({
  onEvent: (name, content) => (name === 'status' ? showStatus(content) : addSamples(content)),
  onLine: showLine,
});

import { read } from './commands.js';
import { saidIn } from './words.js';

/* EventSource gives up for good at the first answer that is no stream, and never notices a line that fell silent. */

const pauseMs = 2_000;
/** The daemon says something every ten seconds. */
const silenceMaxMs = 40_000;
/** So often a page looks that nobody looks at. */
const unseenPauseMs = 10_000;

/**
 * Listens to the daemon for ever, and comes back by itself when the line was cut. A browser opens six lines to a daemon at most, for all
 * its pages together, and with a seventh no command would be sent any more: a page that nobody looks at keeps none, and asks now and then.
 * @param {{ onEvent: (name: string, content: unknown) => void, onLine: (state: 'live' | 'lost', problem?: string) => void }} listener
 */
export async function listen({ onEvent, onLine }) {
  for (;;) {
    // Ends when the page comes into sight, or goes out of it.
    const turn = new AbortController();
    const end = () => turn.abort();
    document.addEventListener('visibilitychange', end);
    const isUnseen = document.hidden;
    try {
      await (isUnseen ? lookOnce : readOnce)(turn.signal, onEvent, () => onLine('live'));
      if (!isUnseen) onLine('lost');
    } catch (error) {
      if (!turn.signal.aborted) onLine('lost', saidIn(error));
    }
    await pause(isUnseen ? unseenPauseMs : pauseMs, turn.signal);
    document.removeEventListener('visibilitychange', end);
  }
}

/** Resolves after the time, or at the end of the turn. */
const pause = (durationMs, turn) =>
  new Promise((resolve) => {
    setTimeout(resolve, durationMs);
    turn.addEventListener('abort', resolve);
    if (turn.aborted) resolve();
  });

/** Fetches, until the turn ends or `keepOn`, which is called at first and with whatever comes, was not called for too long. */
async function fetchAlive(path, turn, use) {
  const silence = new AbortController();
  const end = () => silence.abort();
  turn.addEventListener('abort', end);
  let alarm;
  const keepOn = () => {
    clearTimeout(alarm);
    alarm = setTimeout(end, silenceMaxMs);
  };
  keepOn();
  try {
    await use(await read(path, { signal: silence.signal }), keepOn);
  } finally {
    clearTimeout(alarm);
  }
}

const lookOnce = (turn, onEvent, onOpen) =>
  fetchAlive('api/status', turn, async (answer) => {
    const status = await answer.json();
    onOpen();
    onEvent('status', status);
  });

const readOnce = (turn, onEvent, onOpen) =>
  fetchAlive('api/events', turn, async (answer, keepOn) => {
    onOpen();
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ''; ; ) {
      const { done, value } = await reader.read();
      if (done) return;
      keepOn();
      const messages = (rest + value).split('\n\n');
      rest = messages.pop() ?? '';
      for (const message of messages) readMessage(message, onEvent);
    }
  });

function readMessage(message, onEvent) {
  const lines = message.split('\n');
  // Not by a pattern: to one, some signs that a value may hold end a line as well.
  const valueAfter = (field) => lines.find((line) => line.startsWith(field))?.slice(field.length);
  const [name, content] = [valueAfter('event: '), valueAfter('data: ')];
  if (name !== undefined && content !== undefined) onEvent(name, JSON.parse(content));
}

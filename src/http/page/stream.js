/* EventSource gives up for good at the first answer that is no stream, and never notices a line that fell silent. */

const pauseMs = 2_000;
/** The daemon says something every ten seconds. */
const silenceMaxMs = 40_000;

/**
 * Listens to the daemon for ever, and comes back by itself when the line was cut.
 * @param {{ onEvent: (name: string, content: unknown) => void, onLine: (state: 'live' | 'lost', problem?: string) => void }} listener
 */
export async function listen({ onEvent, onLine }) {
  for (;;) {
    try {
      await readOnce(onEvent, () => onLine('live'));
      onLine('lost');
    } catch (error) {
      onLine('lost', error instanceof TypeError || error.name === 'AbortError' ? undefined : error.message);
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

async function readOnce(onEvent, onOpen) {
  const silence = new AbortController();
  let alarm = setTimeout(() => silence.abort(), silenceMaxMs);
  try {
    const answer = await fetch('api/events', {
      signal: silence.signal,
      cache: 'no-store',
    });
    if (!answer.ok) throw new Error((await answer.json()).error);
    onOpen();
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ''; ; ) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(alarm);
      alarm = setTimeout(() => silence.abort(), silenceMaxMs);
      const messages = (rest + value).split('\n\n');
      rest = messages.pop() ?? '';
      for (const message of messages) readMessage(message, onEvent);
    }
  } finally {
    clearTimeout(alarm);
  }
}

function readMessage(message, onEvent) {
  const lines = message.split('\n');
  // Not by a pattern: to one, some signs that a value may hold end a line as well.
  const read = (field) => lines.find((line) => line.startsWith(field))?.slice(field.length);
  const [name, content] = [read('event: '), read('data: ')];
  if (name !== undefined && content !== undefined) onEvent(name, JSON.parse(content));
}

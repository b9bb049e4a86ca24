import { spawn } from 'node:child_process';

/**
 * Ends the server of the last number it read, and removes the directory it was given, when nothing can write to it any longer. Another
 * session keeps it from the Ctrl-C that ends its parent.
 */
const script = `
while read -r next; do server=$next; done
if [ -n "$server" ] && kill -QUIT "$server" 2>/dev/null; then
  for _ in 1 2 3 4 5 6 7 8 9 10; do kill -0 "$server" 2>/dev/null || break; sleep 0.2; done
  kill -KILL "$server" 2>/dev/null
fi
[ -z "$1" ] || rm -rf "$1"
`;

/** Watches over a server on behalf of this process: a server that is started as a daemon is does not notice that its parent is gone. */
export interface Guard {
  watch(serverPid: number): void;
  /** There is no server to end, but maybe a directory to remove. */
  rest(): void;
  /** Resolves when it is gone, having done nothing. */
  dismiss(): Promise<void>;
}

export function startGuard(temporaryDirectory?: string): Guard {
  const child = spawn('/bin/sh', ['-c', script, 'guard', temporaryDirectory ?? ''], {
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    detached: true,
  });
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
  });
  // It lives as long as this process, but is no reason for it to live.
  child.unref();
  if ('unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref();
  child.stdin.on('error', () => undefined);
  return {
    watch: (serverPid) => void child.stdin.write(`${serverPid}\n`),
    rest: () => void child.stdin.write('\n'),
    dismiss() {
      child.ref();
      child.kill('SIGKILL');
      return gone;
    },
  };
}

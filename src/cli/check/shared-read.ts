/** Lets everybody who asks while a read is under way have its answer, so that many who wait cost one read. */
export function shareRead<Answer>(read: () => Promise<Answer>): () => Promise<Answer> {
  let running: Promise<Answer> | undefined;
  return () => {
    running ??= read().finally(() => {
      running = undefined;
    });
    return running;
  };
}

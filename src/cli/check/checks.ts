import type { Stage } from '../demo-stage.ts';
export async function runChecks(stage: Stage): Promise<boolean> {
  return stage.queue === 'bullmq';
}

import { settingsSchema } from '../../src/app/settings.ts';
import type { HealthLimits } from '../../src/sync/conditions.ts';
import type { Engine } from '../../src/sync/engine.ts';
import { Health } from '../../src/sync/health.ts';

/** The health of an engine, by the limits of the settings where no others are given. */
export const healthOf = (
  engine: Engine,
  limits: Partial<HealthLimits> = {},
  pauseMs: () => number = () => 0,
): Health => new Health({ engine, limits: { ...settingsSchema.shape.health.parse({}), ...limits }, pauseMs });

import { z } from 'zod';

export const whole = (min: number, initial: number, description: string) =>
  z.int().min(min).default(initial).describe(description);

/** A whole number of milliseconds, at least 1 unless the default is less. */
export const milliseconds = (initial: number, description: string) =>
  whole(Math.min(1, initial), initial, `${description} (milliseconds)`);

export const count = (initial: number, description: string) => whole(1, initial, description);

export const share = (initial: number, description: string) =>
  z.number().min(0).max(1).default(initial).describe(description);

export const flag = (initial: boolean, description: string) =>
  z.boolean().default(initial).describe(description);

/** A text that may be absent. */
export const text = (description: string) => z.string().min(1).optional().describe(description);

export const tabTitle = (initial: string, description: string) =>
  z.string().min(1).max(100).default(initial).describe(description);

/** Settings that all have defaults or may be absent, and so may their section. */
export const section = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape).prefault({} as never);

import { z } from 'zod';

/** CRM External API Specification, "Custom field definition": the types a field can have. */
export const customFieldTypes = [
  'text',
  'number',
  'boolean',
  'date',
  'select',
  'multi-select',
  'user-select',
  'user-multi-select',
] as const;
export type CustomFieldType = (typeof customFieldTypes)[number];

/** CRM External API Specification, "Custom field definition". */
export interface CustomFieldDefinition {
  readonly id: number;
  readonly name: string;
  readonly field_key: string;
  readonly type: string;
  readonly options?: readonly { readonly id: number; readonly name: string }[] | null;
  readonly order?: number | null;
  readonly is_active?: boolean | null;
}

interface Stage {
  readonly id: number;
  readonly name: string;
  readonly order_index?: number;
  /** `active`, `won` or something not shown. */
  readonly tag_name?: string | null;
}

/** CRM External API Specification, "Pipeline". */
export interface Pipeline {
  readonly id: number;
  readonly name: string;
  readonly stages: readonly Stage[];
}

/** Words for people decide nothing: lines of them are taken together, and what is of another form is as good as absent. */
const words = z.union([
  z.string(),
  z.array(z.string()).transform((lines) => lines.join('; ')),
  z.unknown().transform(() => undefined),
]);

/** CRM External API Specification, "What the service does", 5: the shape of every answer's body. */
export const envelope = z.looseObject({
  http_code: z.int().exactOptional(),
  status: z.string().exactOptional(),
  message: words.exactOptional(),
  data: z.unknown().exactOptional(),
});
export type Envelope = z.infer<typeof envelope>;

import { z } from 'zod';

/**
 * What the CRM accepts in bodies and queries.
 * Source: CRM External API Specification, "Endpoints", with the lengths and ranges of "Limits".
 * Where the specification leaves open which fields a create demands, none but the shown ones is required here.
 * Whether a date exists in the calendar and what a custom field's type accepts is not the schema's to say.
 */

/**
 * Reads `"2"` as 2: task status and priority are "also accepted" as numeric strings ("Task"), and queries are
 * text anyway.
 */
function integerOrNumericString(minimum: number, maximum: number) {
  const integer = z.int().min(minimum).max(maximum);
  const numericString = z.string().regex(/^\d+$/).transform(Number).pipe(integer);
  return z.union([integer, numericString]);
}

/** "Date rules", 1 and 2: `YYYY-MM-DD`, or a full ISO 8601 date-time whose date part counts. */
const bodyDate = z.string();
/** "Date rules", 5: filters take `YYYY-MM-DD` and nothing else. */
const filterDate = z.iso.date();
const id = z.int().min(1);
const queryInteger = integerOrNumericString(1, Number.MAX_SAFE_INTEGER);

const leadAbout = z.strictObject({
  description: z.string().max(500).nullable().exactOptional(),
  url: z.url().nullable().exactOptional(),
});

const leadFields = {
  title: z.string().min(1).max(200),
  status_name: z.string().max(100).nullable().exactOptional(),
  meta_data: z.object({ about: leadAbout.exactOptional() }).nullable().exactOptional(),
  custom_fields: z.record(z.string(), z.unknown()).exactOptional(),
};

/** "Leads": `POST /leads`. */
export const leadCreateBody = z.object(leadFields);

/** "Leads": `PUT /leads/{id}`; only the supplied fields change. */
export const leadUpdateBody = z.object({ ...leadFields, title: leadFields.title.exactOptional() });

/** "Leads": `PUT /leads/{id}/status`. */
export const leadStatusBody = z.object({ status_name: z.string().min(1).max(100) });

/** "Tasks": `PUT /tasks/{id}`, where `null` clears a date, and `POST /tasks`: which fields that requires is not shown, so none is. */
export const taskBody = z.object({
  title: z.string().min(1).max(500).exactOptional(),
  description: z.string().nullable().exactOptional(),
  status: integerOrNumericString(1, 4).exactOptional(),
  priority: integerOrNumericString(1, 3).exactOptional(),
  due_date: bodyDate.nullable().exactOptional(),
  start_date: bodyDate.nullable().exactOptional(),
  lead_id: id.nullable().exactOptional(),
  parent_task_id: id.nullable().exactOptional(),
});

/** "Opportunities": `PUT /opportunities/{id}` and `POST /opportunities`. Neither body is shown; these are the record's fields. */
export const opportunityBody = z.object({
  stage_id: id.exactOptional(),
  lead_id: id.exactOptional(),
  value: z.number().min(0).exactOptional(),
  confidence: z.int().min(0).max(100).exactOptional(),
  expected_close_date: bodyDate.exactOptional(),
  note: z.string().nullable().exactOptional(),
});

/** "Contacts": `PUT /leads/{leadId}/contacts/{contactId}`, where the CRM refuses an empty body with 400, and `POST /leads/{leadId}/contacts`. */
export const contactBody = z.object({
  full_name: z.string().min(1).exactOptional(),
  email: z.string().nullable().exactOptional(),
  phone_number: z.string().nullable().exactOptional(),
  whatsapp_number: z.string().nullable().exactOptional(),
});

/** "Opportunities": paging, shown for opportunities only; leads and tasks may ignore it. */
export const pageQuery = z.object({
  page: queryInteger.exactOptional(),
  limit: integerOrNumericString(1, 100).exactOptional(),
  order: z.enum(['asc', 'desc']).exactOptional(),
});

/** "Opportunities": `GET /opportunities`. The search parameter's name is not shown and so not listed. */
export const opportunityQuery = pageQuery.extend({
  stage_id: queryInteger.exactOptional(),
  lead_id: queryInteger.exactOptional(),
  expected_close_after: filterDate.exactOptional(),
  expected_close_before: filterDate.exactOptional(),
});

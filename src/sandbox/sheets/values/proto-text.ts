import { isJsonObject, type Json } from '../wire/json.ts';

/** A JSON value in the text form of protocol buffers, in which Google quotes what it refuses. */
export function protoText(value: Json | undefined, indent = ''): string {
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const entries = value.map((entry) => `${inner}values {\n${protoText(entry, `${inner}  `)}${inner}}\n`);
    return `${indent}list_value {\n${entries.join('')}${indent}}\n`;
  }
  if (isJsonObject(value)) {
    const fields = Object.entries(value).map(
      ([key, member]) =>
        `${inner}fields {\n${inner}  key: ${JSON.stringify(key)}\n` +
        `${inner}  value {\n${protoText(member, `${inner}    `)}${inner}  }\n${inner}}\n`,
    );
    return `${indent}struct_value {\n${fields.join('')}${indent}}\n`;
  }
  if (typeof value === 'string') return `${indent}string_value: ${JSON.stringify(value)}\n`;
  if (typeof value === 'boolean') return `${indent}bool_value: ${value}\n`;
  if (typeof value !== 'number') return `${indent}null_value: NULL_VALUE\n`;
  return `${indent}number_value: ${Number.isInteger(value) ? value.toFixed(1) : value}\n`;
}

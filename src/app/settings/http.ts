import { isIP } from 'node:net';
import { z } from 'zod';
import { type NamedToken, readTokenLine } from '../../core/network/access.ts';
import { flag, section, text } from './parts.ts';

const wrongHostName = 'must be a name such as sync.example.com, with nothing before or behind it';

/** Whether a browser can ask under it, with a port or without one: it is compared with what browsers send, and anything else is never met. */
const isHostName = (text: string): boolean => !/[/?#@\\\s]/.test(text) && URL.canParse(`http://${text}`);

/** What a header of HTTP can carry: https://www.rfc-editor.org/rfc/rfc9110#section-5.5 */
const headerText = /^[\x21-\x7e\xa0-\xff]([\x20-\x7e\xa0-\xff]*[\x21-\x7e\xa0-\xff])?$/;

/** Whether it is an IP address, or a range of them like 10.0.0.0/8. */
function isAddressRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

const wrongToken =
  'must be a name of lower-case letters and digits, read, answer or operate, and a token of at least 16 characters, with blanks between';

const tokenLine = z.string().transform((line, context): NamedToken => {
  const token = readTokenLine(line);
  if (token && headerText.test(token.token)) return token;
  context.addIssue({ code: 'custom', message: wrongToken, input: '' });
  return z.NEVER;
});

/** Where health and control are served, and to whom. */
export const httpSettings = section({
  host: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('Address on which health and control are served; one that other machines reach needs a token.'),
  port: z.int().min(0).max(65_535).default(8080).describe('Port for it.'),
  hostNames: z
    .array(z.string().refine(isHostName, wrongHostName))
    .default([])
    .describe('Names under which it may be asked, besides localhost, the host and IP addresses.'),
  controlToken: z
    .string()
    .min(16, 'must have at least 16 characters')
    .regex(headerText, 'must be of one line of letters, digits and signs')
    .optional()
    .describe('Commands need it, and beyond this machine reading too; without it commands are off.'),
  controlTokenFile: text('File with that token, where the environment does not have it.'),
  controlTokens: z
    .array(tokenLine)
    .default([])
    .describe(
      'Further tokens, each as “name scope token”, with scope read, answer or operate; in the environment or a file one a line.',
    ),
  controlTokensFile: text('File with those tokens, where the environment does not have them.'),
  trustedProxies: z
    .array(z.string().refine(isAddressRange, 'must be an address or a range such as 10.0.0.0/8'))
    .default([])
    .describe('Addresses of proxies in front of the daemon, whose X-Forwarded-For is believed.'),
  readWithToken: flag(
    false,
    'Whether status, history, metrics and the page need the token on this machine too; health never does.',
  ),
});

import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Of what bytes an answer is made: Google indents unless asked not to, and compresses what the client can unpack. */
interface AnswerForm {
  isIndented: boolean;
  isCompressed: boolean;
}

const compress = promisify(gzip);

/**
 * What the request asks for. Google's documents want `gzip` in the user agent as well; its servers have long compressed for clients that
 * do without, and so does this one.
 */
function formOf({ url, headers }: FastifyRequest): AnswerForm {
  const query = new URLSearchParams(url.split('?', 2)[1] ?? '');
  const pretty = query.get('prettyPrint') ?? query.get('$prettyPrint') ?? query.get('pp') ?? 'true';
  return {
    isIndented: !/^(?:false|f|no|n|0)$/i.test(pretty),
    isCompressed: takesGzip(String(headers['accept-encoding'] ?? '')),
  };
}

/** A quality of 0 means "not this one". */
function takesGzip(accepted: string): boolean {
  return accepted.split(',').some((entry) => {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    return /^(?:gzip|x-gzip|\*)$/.test(name) && !parameters.some((part) => /^q=0(?:\.0*)?$/.test(part));
  });
}

/** The text of an answer, a line of its own where it is indented. */
export function answerText(request: FastifyRequest, answer: unknown): string {
  return formOf(request).isIndented ? `${JSON.stringify(answer, null, 2)}\n` : JSON.stringify(answer);
}

/** Sends JSON as Google does: indented by two spaces and compressed, unless the request asks otherwise. */
export async function sendJson(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: unknown,
  code = 200,
): Promise<FastifyReply> {
  return sendText(
    request,
    reply.code(code).type('application/json; charset=UTF-8'),
    answerText(request, answer),
  );
}

/** Sends a text, compressed where the client takes that. */
export async function sendText(
  request: FastifyRequest,
  reply: FastifyReply,
  text: string,
): Promise<FastifyReply> {
  reply.header('vary', 'Origin, X-Origin, Referer');
  if (!formOf(request).isCompressed) return reply.send(text);
  // The least effort: an answer on its way inside one machine wants to be quick more than small.
  const packed = await compress(text, { level: constants.Z_BEST_SPEED });
  return reply.header('content-encoding', 'gzip').send(packed);
}

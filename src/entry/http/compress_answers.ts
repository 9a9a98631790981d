import fastifyCompress from '@fastify/compress';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Smaller answers fit in one or two packets as they are. */
const BYTES_MIN = 2_048;
/** Up to here an answer is packed within half a millisecond; longer ones are packed off the event loop. */
const AT_ONCE_BYTES_MAX = 32 * 1_024;

/** Every secret of ours begins like this, see `newSecretText`. */
const SECRET = 'tocsin_';

/**
 * Packs what the routes of this scope answer, for clients that accept it; others pay nothing. Event streams are never
 * packed: the answer to `listen_to_changes` bypasses the hooks, and that media type is left out. MCP is not packed at
 * all, since its answers may turn into streams.
 *
 * Somebody who can make a browser ask again and again, put chosen text into the answer and see its length on the wire
 * can guess a secret in a packed answer (BREACH). Here no foreign page can make a browser ask with credentials: actions
 * are POST with JSON from our own origin, or with a key. Still, an answer that holds one of our secrets, be it an
 * ingestion key, an API key or a link, is sent as it is. `isPublic`: there are none in this scope, only examples.
 */
export async function compressAnswers(
  scope: FastifyInstance,
  { isPublic = false }: { readonly isPublic?: boolean } = {},
): Promise<void> {
  if (!isPublic) scope.addHook('onSend', leaveSecretsAsTheyAre);
  await scope.register(fastifyCompress, {
    globalCompression: true,
    // What senders pack is unpacked within bounds where it is read.
    globalDecompression: false,
    encodings: ['br', 'gzip'],
    threshold: BYTES_MIN,
    syncThreshold: AT_ONCE_BYTES_MAX,
  });
}

function leaveSecretsAsTheyAre(
  request: FastifyRequest,
  _reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload: unknown) => void,
): void {
  const mayPack = request.headers['accept-encoding'] !== undefined;
  // This header makes the plugin skip compression.
  if (mayPack && typeof payload === 'string' && payload.includes(SECRET)) request.headers['x-no-compression'] = '1';
  done(null, payload);
}

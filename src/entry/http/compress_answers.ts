import fastifyCompress from '@fastify/compress';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Smallest size that is compressed: smaller answers fit in one or two packets as they are. */
const BYTES_MIN = 2_048;
/** Largest size compressed synchronously, within half a millisecond; others are compressed off the event loop. */
const AT_ONCE_BYTES_MAX = 32 * 1_024;

/** Prefix of every secret of the product, see `newSecretText`. */
const SECRET = 'tocsin_';

/**
 * Compresses the answers of the routes in this scope, for clients that accept it; other scopes pay nothing. Event
 * streams are never compressed: the answer to `listen_to_changes` bypasses the hooks, and that media type is excluded.
 * MCP is not compressed at all, since its answers may turn into streams. Somebody who can make a browser send request
 * after request, put chosen text into the answer and see its length on the wire can guess a secret in a compressed
 * answer (BREACH). Here no foreign page can make a browser send credentials: actions are POST with JSON from our own
 * origin, or with a key. Still, an answer that holds one of our secrets, be it an ingestion key, an API key or a link,
 * is sent uncompressed. `isPublic` says that the answers of this scope hold no secrets, only examples.
 */
export async function compressAnswers(
  scope: FastifyInstance,
  { isPublic = false }: { readonly isPublic?: boolean } = {},
): Promise<void> {
  if (!isPublic) scope.addHook('onSend', leaveSecretsAsTheyAre);
  await scope.register(fastifyCompress, {
    globalCompression: true,
    // Compressed bodies are decompressed within limits where they are read.
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

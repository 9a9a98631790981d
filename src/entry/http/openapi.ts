import type { FastifyInstance } from 'fastify';

import { compressAnswers } from '#entry/http/compress_answers.ts';
import { openApiDocument } from '#entry/http/openapi/document.ts';
import { once } from '#kernel/once.ts';

/**
 * Mounts `GET /api/openapi.json`, without authentication: it contains only what is published. The document is built on
 * the first request.
 */
export async function mountOpenApi(app: FastifyInstance, baseUrl: string): Promise<void> {
  const document = once(async () => JSON.stringify(openApiDocument(baseUrl)));
  await app.register(async (scope) => {
    await compressAnswers(scope, { isPublic: true });
    scope.get('/api/openapi.json', async (_request, reply) =>
      reply
        .headers({ 'access-control-allow-origin': '*', 'cache-control': 'no-cache' })
        .type('application/json; charset=utf-8')
        .send(await document()),
    );
  });
}

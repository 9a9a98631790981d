import type { FastifyInstance } from 'fastify';

import { openApiDocument } from '#entry/http/openapi/document.ts';

/** `GET /api/openapi.json`, for anybody: it tells nothing that the product does not publish. */
export function mountOpenApi(app: FastifyInstance, baseUrl: string): void {
  const document = JSON.stringify(openApiDocument(baseUrl));
  app.get('/api/openapi.json', async (_request, reply) =>
    reply
      .headers({ 'access-control-allow-origin': '*', 'cache-control': 'no-cache' })
      .type('application/json; charset=utf-8')
      .send(document),
  );
}

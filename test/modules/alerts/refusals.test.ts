import { expect, test } from 'vitest';

import { ALERT_ENDPOINTS } from '#ingest/protocols/alerts/registry.ts';
import { AppError, type ErrorCode } from '#kernel/errors.ts';

/** Statuses that the clients of each address try again, as their programs do. */
test.each<[string, Partial<Record<ErrorCode, number>>]>([
  // pdjs tries nothing but 429 again.
  ['pagerduty/v2/enqueue', { rate_limited: 429, unavailable: 429, unauthenticated: 400, invalid_input: 400 }],
  ['pagerduty/v2/change/enqueue', { rate_limited: 429, unavailable: 429 }],
  ['pagerduty/generic/2010-04-15/create_event.json', { rate_limited: 403, unavailable: 503 }],
  ['opsgenie/v2/alerts', { rate_limited: 429, unavailable: 503, unauthenticated: 401, invalid_input: 422 }],
  ['alertmanager', { rate_limited: 503, unavailable: 503 }],
  ['grafana', { rate_limited: 503, unavailable: 503 }],
  ['prometheus/api/v2/alerts', { rate_limited: 503, unavailable: 503 }],
  ['victorops/:key/:routing', { rate_limited: 503, unavailable: 503 }],
])('%s refuses as its clients understand it', (pattern, statuses) => {
  const endpoint = ALERT_ENDPOINTS.find((alertEndpoint) => alertEndpoint.pattern === pattern);
  for (const [code, status] of Object.entries(statuses)) {
    expect(endpoint?.refuse?.(new AppError(code as ErrorCode, 'no')).status, code).toBe(status);
  }
});

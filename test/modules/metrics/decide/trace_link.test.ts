import { describe, expect, test } from 'vitest';

import { parseTraceLink, traceUrl } from '#modules/metrics/decide/trace_link.ts';
import fc from '#test/kit/properties.ts';

describe('the address of a tracing tool', () => {
  test.each([
    ['https://traces.example.com/trace/{traceId}'],
    ['http://localhost:16686/trace/{traceId}?uiFind=slow'],
    ['https://grafana.example.com/explore?left=%7B%22queries%22:[%7B%22query%22:%22{traceId}%22%7D]%7D'],
  ])('is taken: %s', (link) => {
    expect(parseTraceLink(` ${link} `)).toEqual({ kind: 'ok', value: link });
  });

  test.each([
    ['javascript:alert(1)//{traceId}', 'https://'],
    ['data:text/html,{traceId}', 'https://'],
    ['https://traces.example.com/trace/', '{traceId}'],
    ['https://{traceId}.example.com/', 'after the name of the host'],
    ['https://example.com:{traceId}/', 'after the name of the host'],
    ['https://anna:secret@example.com/{traceId}', 'no password'],
    ['https://example.com/"><script>{traceId}', 'without spaces'],
    ['traces/{traceId}', 'https://'],
    [`https://example.com/${'a'.repeat(500)}{traceId}`, 'at most 500'],
  ])('is refused: %s', (link, why) => {
    expect(parseTraceLink(link)).toMatchObject({ kind: 'faults', faults: [{ message: expect.stringContaining(why) }] });
  });

  test('leads to the same host whatever a sender calls its trace', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('../..', '//evil.example', '$&', '@evil')),
        (id) => {
          const url = new URL(traceUrl('https://traces.example.com/trace/{traceId}?again={traceId}', id));
          expect(url.origin).toBe('https://traces.example.com');
          expect(url.searchParams.get('again')).toBe(id.toWellFormed());
        },
      ),
    );
  });
});

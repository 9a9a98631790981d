import type { ExceptionEvent, ExceptionValue, Frame } from '#modules/exceptions/decide/event.ts';
import { Temporal } from '#kernel/time.ts';

const receivedAt = Temporal.Instant.from('2026-11-21T12:00:00Z');

export function eventOf(fields: Partial<ExceptionEvent> = {}): ExceptionEvent {
  return {
    eventId: '9f3329ff52304ef080395b9b8bf31b50',
    at: receivedAt,
    receivedAt,
    level: 'error',
    platform: 'python',
    environment: null,
    release: null,
    serverName: null,
    transaction: null,
    logger: null,
    user: null,
    tags: {},
    message: null,
    messageTemplate: null,
    exceptions: [],
    thread: null,
    stacktrace: [],
    breadcrumbs: [],
    contexts: null,
    extra: null,
    request: null,
    sdk: null,
    fingerprint: [],
    ...fields,
  };
}

export function exceptionOf(
  type: string | null,
  value: string | null,
  fields: Partial<ExceptionValue> = {},
): ExceptionValue {
  return { type, value, module: null, mechanism: null, frames: [], ...fields };
}

export function frameOf(fields: Partial<Frame>): Frame {
  return {
    function: null,
    module: null,
    filename: null,
    absPath: null,
    lineno: null,
    colno: null,
    contextLine: null,
    preContext: [],
    postContext: [],
    inApp: null,
    ...fields,
  };
}

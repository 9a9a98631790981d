import type { ExceptionEvent, Frame, Json } from '#modules/exceptions/decide/event.ts';
import { FILTERED, withoutValuesOf } from '#modules/exceptions/decide/secrets.ts';

/**
 * Removes the values of fields that the service calls secret from an event: in whatever case, wherever they stand, in
 * texts as in members.
 */
export function withoutFields(event: ExceptionEvent, names: readonly string[]): ExceptionEvent {
  if (names.length === 0) return event;
  const secret = new Set(names.map((name) => name.toLowerCase()));
  // `order[iban]`, `order.iban` and `order%5Biban%5D` name the same field.
  const isSecret = (name: string): boolean => {
    const parts = name.toLowerCase().split(/[.[\]]|%5b|%5d/);
    return secret.has(name.toLowerCase()) || secret.has(parts.findLast((part) => part !== '') ?? '');
  };
  const cleanText = (text: string): string => withoutValuesOf(text, isSecret);
  const clean = (json: Json): Json => withoutNamed(json, secret, cleanText);
  const cleanMembers = <T extends Json>(members: Readonly<Record<string, T>>): Record<string, T | string> =>
    Object.fromEntries(Object.entries(members).map(([name, value]) => [name, isSecret(name) ? FILTERED : value]));
  const cleanFrames = (frames: readonly Frame[]): readonly Frame[] =>
    frames.map((frame) =>
      frame.variables === undefined
        ? frame
        : {
            ...frame,
            variables: Object.fromEntries(
              Object.entries(cleanMembers(frame.variables)).map(([name, value]) => [name, clean(value)]),
            ),
          },
    );
  const { user, thread, otherThreads, message, messageTemplate } = event;
  return {
    ...event,
    message: message && cleanText(message),
    messageTemplate: messageTemplate && cleanText(messageTemplate),
    tags: cleanMembers(event.tags),
    request: clean(event.request),
    contexts: clean(event.contexts),
    extra: clean(event.extra),
    breadcrumbs: event.breadcrumbs.map((crumb) => ({
      ...crumb,
      message: crumb.message && cleanText(crumb.message),
      data: clean(crumb.data),
    })),
    user: user && {
      id: secret.has('id') ? FILTERED : user.id,
      email: secret.has('email') ? FILTERED : user.email,
      username: secret.has('username') ? FILTERED : user.username,
      ip: secret.has('ip_address') || secret.has('ip') ? null : user.ip,
      data: user.data === undefined ? undefined : clean(user.data),
    },
    exceptions: event.exceptions.map((exception) => ({
      ...exception,
      value: exception.value && cleanText(exception.value),
      frames: cleanFrames(exception.frames),
    })),
    thread: thread && { ...thread, frames: cleanFrames(thread.frames) },
    stacktrace: cleanFrames(event.stacktrace),
    otherThreads: otherThreads?.map((other) => ({ ...other, frames: cleanFrames(other.frames) })),
  };
}

function withoutNamed(json: Json, secret: ReadonlySet<string>, cleanText: (text: string) => string): Json {
  if (typeof json === 'string') return cleanText(json);
  if (typeof json !== 'object' || json === null) return json;
  if (isList(json)) {
    const [name] = json;
    // Headers also come as pairs.
    const isSecretPair = json.length === 2 && typeof name === 'string' && secret.has(name.toLowerCase());
    return isSecretPair ? [name, FILTERED] : json.map((entry) => withoutNamed(entry, secret, cleanText));
  }
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => [
      name,
      secret.has(name.toLowerCase()) && value !== null ? FILTERED : withoutNamed(value, secret, cleanText),
    ]),
  );
}

function isList(json: object): json is readonly Json[] {
  return Array.isArray(json);
}

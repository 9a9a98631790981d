import type { ExceptionEvent, Frame, Json } from '#modules/exceptions/decide/event.ts';
import { FILTERED } from '#modules/exceptions/decide/secrets.ts';

/** Removes the values of fields that the service calls secret from an event: in whatever case, wherever they stand. */
export function withoutFields(event: ExceptionEvent, names: readonly string[]): ExceptionEvent {
  if (names.length === 0) return event;
  const secret = new Set(names.map((name) => name.toLowerCase()));
  const clean = (json: Json): Json => withoutNamed(json, secret);
  const cleanMembers = <T extends Json>(members: Readonly<Record<string, T>>): Record<string, T | string> =>
    Object.fromEntries(
      Object.entries(members).map(([name, value]) => [name, secret.has(name.toLowerCase()) ? FILTERED : value]),
    );
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
  const { user, thread, otherThreads } = event;
  return {
    ...event,
    tags: cleanMembers(event.tags),
    request: clean(event.request),
    contexts: clean(event.contexts),
    extra: clean(event.extra),
    breadcrumbs: event.breadcrumbs.map((crumb) => ({ ...crumb, data: clean(crumb.data) })),
    user: user && {
      id: secret.has('id') ? FILTERED : user.id,
      email: secret.has('email') ? FILTERED : user.email,
      username: secret.has('username') ? FILTERED : user.username,
      ip: secret.has('ip_address') || secret.has('ip') ? null : user.ip,
      data: user.data === undefined ? undefined : clean(user.data),
    },
    exceptions: event.exceptions.map((exception) => ({ ...exception, frames: cleanFrames(exception.frames) })),
    thread: thread && { ...thread, frames: cleanFrames(thread.frames) },
    stacktrace: cleanFrames(event.stacktrace),
    otherThreads: otherThreads?.map((other) => ({ ...other, frames: cleanFrames(other.frames) })),
  };
}

function withoutNamed(json: Json, secret: ReadonlySet<string>): Json {
  if (typeof json !== 'object' || json === null) return json;
  if (isList(json)) {
    const [name] = json;
    // Headers also come as pairs.
    const isSecretPair = json.length === 2 && typeof name === 'string' && secret.has(name.toLowerCase());
    return isSecretPair ? [name, FILTERED] : json.map((entry) => withoutNamed(entry, secret));
  }
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => [
      name,
      secret.has(name.toLowerCase()) && value !== null ? FILTERED : withoutNamed(value, secret),
    ]),
  );
}

function isList(json: object): json is readonly Json[] {
  return Array.isArray(json);
}

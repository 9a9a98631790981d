import { isApiError } from '#console/api/http.ts';

/** What the server says is wrong, by the path of the field, as the form names it. */
export function serverFaults(error: unknown): Record<string, string> {
  if (!isApiError(error)) return {};
  return Object.fromEntries(error.faults.map(({ path, message }) => [path, capital(message)]));
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

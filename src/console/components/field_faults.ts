import { ApiError, isApiError } from '#console/api/http.ts';

type Fault = ApiError['faults'][number];

/** What the server says is wrong, by the field of the form that it is about: for `form.setErrors`. */
export function faultsAtFields(error: unknown, values: object): Record<string, string> {
  if (!isApiError(error)) return {};
  return Object.fromEntries(
    error.faults.flatMap((fault) => (isOf(values, fault) ? [[fieldOf(fault), sentence(fault.message)]] : [])),
  );
}

/** What of the error no field of the form says; null when they say all of it. */
export function errorBesideFields(error: unknown, values: object): unknown {
  if (!isApiError(error) || error.faults.length === 0) return error;
  const faults = error.faults.filter((fault) => !isOf(values, fault));
  if (faults.length === 0) return null;
  const { status, code, message, requestId, retryAfterSeconds } = error;
  return new ApiError({ status, code, message, faults, requestId, retryAfterSeconds });
}

function fieldOf({ path }: Fault): string {
  return path.split(/[.[]/)[0] ?? '';
}

/** `values` may name a field within another, such as `target.serviceId`. */
function isOf(values: object, fault: Fault): boolean {
  const [whole = ''] = fault.path.split('[');
  return Object.hasOwn(values, whole) || Object.hasOwn(values, fieldOf(fault));
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

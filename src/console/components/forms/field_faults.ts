import { ApiError, isApiError } from '#console/api/http.ts';

type Fault = ApiError['faults'][number];

/** Returns the faults found by the server, by the field of the form: for `form.setErrors`. */
export function faultsAtFields(error: unknown, values: object): Record<string, string> {
  if (!isApiError(error)) return {};
  return Object.fromEntries(
    error.faults.flatMap((fault) => (isOf(values, fault) ? [[fieldOf(fault), sentence(fault.message)]] : [])),
  );
}

/** Returns the part of the error that no field of the form shows; null if the fields show all of it. */
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

/** Whether a fault belongs to one of the values. `values` may name a nested field, such as `target.serviceId`. */
function isOf(values: object, fault: Fault): boolean {
  const [whole = ''] = fault.path.split('[');
  return Object.hasOwn(values, whole) || Object.hasOwn(values, fieldOf(fault));
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

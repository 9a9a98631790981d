/** Twilio's error codes that the double knows, with their HTTP status and text (https://www.twilio.com/docs/api/errors). */
const TWILIO_ERRORS: Readonly<Record<number, readonly [status: number, message: string]>> = {
  20001: [400, 'Unknown parameters'],
  20003: [401, 'Authenticate'],
  20400: [400, 'Bad Request'],
  20404: [404, 'The requested resource was not found'],
  20429: [429, 'Too Many Requests'],
  20500: [500, 'Internal Server Error'],
  20503: [503, 'Service Unavailable'],
  21201: [400, "No 'To' number specified"],
  21205: [400, 'Url parameter is required.'],
  21210: [400, "The source phone number provided is not yet verified for your account. 'From' must be a Twilio number"],
  21211: [400, "Invalid 'To' Phone Number"],
  21213: [400, "'From' phone number is required to make a call"],
  21214: [400, "'To' phone number cannot be reached"],
  21215: [400, 'Account not authorized to call this number. Please ensure international permissions are enabled'],
  21219: [400, "'To' phone number not verified"],
  21266: [400, "'To' and 'From' number cannot be the same"],
  21408: [400, 'Permission to send an SMS has not been enabled for the region indicated by the To number'],
  21602: [400, 'Message body is required.'],
  21603: [400, "A 'From' phone number is required."],
  21604: [400, "A 'To' phone number is required."],
  21606: [
    400,
    "The 'From' phone number provided is not a valid message-capable Twilio phone number for this destination",
  ],
  21608: [400, 'The number is unverified. Trial accounts cannot send messages to unverified numbers'],
  21609: [400, "The 'StatusCallback' URL is not a valid URL"],
  21610: [400, 'Attempt to send to unsubscribed recipient'],
  21612: [400, "The message From/To pair violates a blacklist rule or 'To' is not reachable"],
  21614: [400, "'To' number is not a valid mobile number"],
  21617: [400, 'The concatenated message body exceeds the 1600 character limit'],
  21626: [400, 'Invalid statusCallbackEvents'],
};

/** Reasons why the network did not deliver a message. */
const DELIVERY_ERRORS: Readonly<Record<number, string>> = {
  30001: 'Queue overflow',
  30002: 'Account suspended',
  30003: 'Unreachable destination handset',
  30004: 'Message blocked',
  30005: 'Unknown destination handset',
  30006: 'Landline or unreachable carrier',
  30007: 'Message filtered',
  30008: 'Unknown error',
};

interface TwilioErrorBody {
  readonly code: number;
  readonly message: string;
  readonly more_info: string;
  readonly status: number;
}

/** Thrown while a request is handled; answered as Twilio answers. */
export class TwilioRefusal extends Error {
  readonly status: number;
  readonly code: number;

  constructor(code: number, detail?: string) {
    const [status, message] = TWILIO_ERRORS[code] ?? [400, 'Bad Request'];
    super(detail ?? message);
    this.name = 'TwilioRefusal';
    this.status = status;
    this.code = code;
  }
}

export function toErrorBody(status: number, code: number, message: string): TwilioErrorBody {
  return { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status };
}

export function errorText(code: number): string {
  return TWILIO_ERRORS[code]?.[1] ?? DELIVERY_ERRORS[code] ?? 'Unknown error';
}

export const isE164 = (number: string): boolean => /^\+[1-9]\d{6,14}$/.test(number);

/** Throws Twilio's 21211 for anything but an E.164 number. */
export function requireReachable(number: string): void {
  if (!isE164(number)) throw new TwilioRefusal(21211, `Invalid 'To' Phone Number: ${number}`);
}

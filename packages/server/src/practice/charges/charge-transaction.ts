/**
 * What a ChargeItem says as a transaction (https://hl7.org/fhir/R4/chargeitem.html): the id that its application gave it, and
 * what it comes to (docs/decisions/0196).
 */
import { type ChargeItem, type Decimal, type Money, practiceIdentifierSystems } from '@praxis/fhir';
import { fail } from '../../base/errors.ts';
import { type ExactDecimal, parseDecimal } from '../../search/kinds/decimal.ts';

/** Extension of a ChargeItem: the price of one unit, a Money, in place of that of the fee schedule. */
export const unitCostUrl = 'https://praxis.health/fhir/StructureDefinition/unit-cost';

/** Longest id of a transaction, in characters. */
const transactionLengthMax = 100;

/** What a charge tells those who do the billing. */
export interface ChargeFacts {
  readonly status: string;
  /** Reference as it was sent. */
  readonly patient: string | undefined;
  /** The first coding of its code, else its text. */
  readonly code: string | undefined;
  /** As it was written. */
  readonly quantity: string | undefined;
  readonly unitCost: string | undefined;
  /** Unit cost × quantity, else the price that overrides; undefined: that of the fee schedule. */
  readonly amount: string | undefined;
  readonly currency: string | undefined;
}

/** The id that the application gave the transaction; undefined: none. */
export function findTransactionId(charge: ChargeItem | undefined): string | undefined {
  return transactionsOf(charge)[0];
}

/**
 * Passes when the charge has one id of a transaction at most, and its price says what its unit cost and quantity come to.
 * @throws PraxisError `rule-broken`
 */
export function requireTransaction(charge: ChargeItem): void {
  const transactions = transactionsOf(charge);
  if (transactions.length > 1)
    refuse(
      'identifier',
      `has ${transactions.length} ids of the system ${practiceIdentifierSystems.transaction}: a charge is one transaction`,
    );
  const [transaction = ''] = transactions;
  if (transaction.length > transactionLengthMax)
    refuse('identifier', `has an id of a transaction that is longer than ${transactionLengthMax} characters`);
  const { priceOverride: price } = charge;
  const cost = unitCostOf(charge);
  if (price === undefined || cost === undefined) return;
  const amount = productOf(charge, cost);
  const priced = decimalOf(price.value);
  const isOtherCurrency = price.currency !== cost.currency;
  if (isOtherCurrency || (amount !== undefined && priced !== undefined && !isEqual(amount, priced)))
    refuse(
      'priceOverride',
      'differs from the unit cost × quantity: leave it out, or send what they come to, in the same currency',
    );
}

/** @param charge valid */
export function chargeFacts(charge: ChargeItem): ChargeFacts {
  const cost = unitCostOf(charge);
  const { priceOverride: price, code } = charge;
  const amount = cost === undefined ? decimalOf(price?.value) : productOf(charge, cost);
  return {
    status: charge.status ?? '',
    patient: charge.subject.reference,
    code: code.coding?.[0]?.code ?? code.text,
    quantity: numberText(charge.quantity?.value),
    unitCost: numberText(cost?.value),
    amount: amount && plainText(amount),
    currency: (cost ?? price)?.currency,
  };
}

function transactionsOf({ identifier = [] }: Pick<ChargeItem, 'identifier'> = {}): readonly string[] {
  return identifier
    .filter(({ system }) => system === practiceIdentifierSystems.transaction)
    .flatMap(({ value }) => value ?? []);
}

function unitCostOf({ extension }: ChargeItem): Money | undefined {
  return extension?.find(({ url }) => url === unitCostUrl)?.valueMoney;
}

/** Without a quantity it is one. */
function productOf({ quantity }: ChargeItem, cost: Money): ExactDecimal | undefined {
  const unit = decimalOf(cost.value);
  if (quantity === undefined) return unit;
  const times = decimalOf(quantity.value);
  if (unit === undefined || times === undefined) return undefined;
  return { digits: unit.digits * times.digits, exponent: unit.exponent + times.exponent, bareExponent: false };
}

function decimalOf(value: Decimal | undefined): ExactDecimal | undefined {
  const text = numberText(value);
  return text === undefined ? undefined : parseDecimal(text);
}

/** A number as it was written. */
function numberText(value: Decimal | undefined): string | undefined {
  if (typeof value === 'number') return String(value);
  const text = value === undefined ? undefined : JSON.stringify(value);
  return text !== undefined && /^[-+\d.eE]+$/.test(text) ? text : undefined;
}

function isEqual(one: ExactDecimal, other: ExactDecimal): boolean {
  const exponent = Math.min(one.exponent, other.exponent);
  return unscaled(one, exponent) === unscaled(other, exponent);
}

function unscaled({ digits, exponent }: ExactDecimal, to: number): bigint {
  return digits * 10n ** BigInt(exponent - to);
}

/** Without an exponent: 12.50. */
function plainText({ digits, exponent }: ExactDecimal): string {
  if (exponent >= 0) return String(digits * 10n ** BigInt(exponent));
  const sign = digits < 0n ? '-' : '';
  const text = String(digits < 0n ? -digits : digits).padStart(1 - exponent, '0');
  return `${sign}${text.slice(0, exponent)}.${text.slice(exponent)}`;
}

function refuse(element: string, problem: string): never {
  return fail('rule-broken', {
    diagnostics: `ChargeItem.${element} ${problem}`,
    expression: [`ChargeItem.${element}`],
  });
}

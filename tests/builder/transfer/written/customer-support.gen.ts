/**
 * Customer support, for LLMRTC. Made by Playbook Studio: change the playbook there and export it
 * again. Tools are functions of your program: register them in a ToolRegistry.
 */
import type { Playbook, PlaybookOrchestratorOptions, ToolDefinition } from "@llmrtc/llmrtc-core";

const schema = (value: unknown) => value as ToolDefinition["parameters"];

export const playbook: Playbook = {
	id: "customer-support",
	name: "Customer support",
	description: "A homeware shop's service desk: find out who is writing, what it is about, settle orders and refunds, and hand over to a person when that is the better help.",
	version: "1.0",
	stages: [
		{
			id: "greeting",
			name: "Greeting",
			description: "The customer has only said hello, or it is not clear yet what they want.",
			systemPrompt: "Welcome the customer to the service desk of {$shop} and ask what you can do for them.\n\n- Two sentences at most. No list of what you can do.\n- As soon as they say what it is about, or give an e-mail address or a phone number, move on to authentication. Don't ask for their details here.\n- Don't answer questions about orders, prices or refunds yet: you don't know who is writing.",
			metadata: {
				rehearsal: [
					{
						when: [
							"order",
							"orders",
							"parcel",
							"package",
							"delivery",
							"delivered",
							"refund",
							"money back",
							"return",
							"cancel",
							"broken",
							"damaged",
							"faulty",
							"missing",
							"wrong",
							"late",
							"replacement",
							"account",
							"ticket",
							"@",
						],
						call: {
							name: "playbook_transition",
							arguments: {
								targetStage: "authentication",
								reason: "The customer said what it is about.",
							},
						},
					},
					{
						say: [
							"Hello, this is the service desk of {vars.shop}. What can I do for you?",
							"Tell me in a few words what it is about: an order, a refund, or something else.",
						],
					},
				],
			},
		},
		{
			id: "authentication",
			name: "Authentication",
			description: "The customer has said what it is about, such as an order, a parcel, a refund, a return, a broken or missing item or the account, or has given an e-mail address or a phone number.",
			systemPrompt: "Find the customer's account before you talk about anything that belongs to it.\n\n- Ask for the e-mail address or the phone number of the account; one of them is enough. If they have given one already, don't ask again.\n- Look it up with lookup_customer, exactly as it was written. Never invent or complete an address or a number.\n- Not found: say so plainly, and offer the other way (phone instead of e-mail, or the reverse). People often order with a second address.\n- The account is locked: say that a colleague has to unlock it. Don't guess why.\n- Tell nothing about an account before the look-up has succeeded, not even whether it exists.",
			tools: [
				{
					name: "lookup_customer",
					description: "Finds a customer's account by the e-mail address or the phone number it is registered with. Give one of the two.",
					parameters: schema({"type": "object", "properties": {"email": {"type": "string", "format": "email", "description": "The e-mail address, as the customer wrote it"}, "phone": {"type": "string", "description": "The phone number with its country code, for example +441614960018"}}, "required": [], "additionalProperties": false}),
				},
			],
			metadata: {
				rehearsal: [
					{
						when: {
							failed: "lookup_customer",
						},
						say: "{lookup_customer.error} If the account has another e-mail address or a phone number, I can try that.",
					},
					{
						say: [
							"I will look into that. Which e-mail address or phone number is the account registered with?",
							"I still need the e-mail address or the phone number of the account; one of them is enough.",
						],
					},
				],
			},
		},
		{
			id: "triage",
			name: "Triage",
			description: "The account is known; find out what the customer needs.",
			systemPrompt: "You are talking to {customer.name}, a {customer.tier} customer. Greet them by first name, once.\n\nFind out which of two things it is:\n- an order or a delivery, a product that is faulty, the account, anything else: resolution;\n- they want money back, or to send something back: refund.\n\nIf they have said it already, don't ask: move on at once, and pass the order number if they gave one. If it is not clear, ask one short question. A complaint without a wish (\"the vase came broken\") needs that question: would they rather have a replacement or their money?\n\nSolve nothing here.",
			metadata: {
				rehearsal: [
					{
						when: {
							user: [
								"refund",
								"refunded",
								"money back",
								"send it back",
								"return it",
								"cancel",
							],
						},
						call: {
							name: "playbook_transition",
							arguments: {
								targetStage: "refund",
								reason: "The customer wants money back.",
							},
						},
					},
					{
						when: {
							user: [
								"order",
								"orders",
								"parcel",
								"package",
								"delivery",
								"delivered",
								"broken",
								"damaged",
								"faulty",
								"missing",
								"wrong",
								"late",
								"replacement",
								"account",
								"ticket",
							],
						},
						call: {
							name: "playbook_transition",
							arguments: {
								targetStage: "resolution",
								reason: "The customer asks about an order.",
							},
						},
					},
					{
						when: {
							first: true,
							earlier: [
								"refund",
								"refunded",
								"money back",
								"send it back",
								"return it",
								"cancel",
							],
						},
						call: {
							name: "playbook_transition",
							arguments: {
								targetStage: "refund",
								reason: "The customer wants money back.",
							},
						},
					},
					{
						when: {
							first: true,
							earlier: [
								"order",
								"orders",
								"parcel",
								"package",
								"delivery",
								"delivered",
								"broken",
								"damaged",
								"faulty",
								"missing",
								"wrong",
								"late",
								"replacement",
								"account",
								"ticket",
							],
						},
						call: {
							name: "playbook_transition",
							arguments: {
								targetStage: "resolution",
								reason: "The customer asks about an order.",
							},
						},
					},
					{
						say: [
							"Hello {vars.customer.firstName}, I have found your account. Is it about an order or a parcel, or would you like money back?",
							"Is it about an order or a parcel, or would you like money back?",
						],
					},
				],
			},
		},
		{
			id: "resolution",
			name: "Resolution",
			description: "A question about an order, a parcel or delivery, a faulty or missing item, a replacement, the account, or anything else that is not a refund.",
			systemPrompt: "Settle the customer's question with the tools, not from memory.\n\n- They have an order number: find_order. They have none: list_orders with the id of the customer's account, then name the one or two that fit and let them choose.\n- Where is my parcel: say its state and the expected day, in one sentence. A parcel that is three days late or more deserves an apology and a ticket.\n- Broken, wrong or missing item: create_ticket with what happened in the customer's words, the order and priority high. Tell them the ticket's number and when they will hear from us.\n- Anything you cannot settle yourself: create_ticket, priority normal. Don't promise what the ticket will bring.\n- A tool fails: say that you cannot see it just now and open a ticket instead of trying a third time.\n- When it is settled, ask whether there is anything else.",
			tools: [
				{
					name: "find_order",
					description: "Finds one order by its number and tells its items, state and delivery.",
					parameters: schema({"type": "object", "properties": {"orderNumber": {"type": "string", "description": "Four digits, for example 4471", "pattern": "^[0-9]{4}$"}}, "required": ["orderNumber"], "additionalProperties": false}),
				},
				{
					name: "list_orders",
					description: "Lists the customer's latest orders with the state of each parcel, newest first. For customers who don't know the order number.",
					parameters: schema({"type": "object", "properties": {"customerId": {"type": "string", "description": "The id of the customer's account, for example c_81"}}, "required": ["customerId"], "additionalProperties": false}),
				},
				{
					name: "create_ticket",
					description: "Opens a ticket for the team. Use it for what you cannot settle in the chat.",
					parameters: schema({"type": "object", "properties": {"summary": {"type": "string", "description": "What happened, in one or two sentences, in the customer's words"}, "orderNumber": {"type": "string", "description": "The order it belongs to, if any"}, "priority": {"type": "string", "enum": ["normal", "high"], "description": "high: something broken, wrong, missing or late"}}, "required": ["summary", "priority"], "additionalProperties": false}),
					executionPolicy: "sequential",
				},
			],
			metadata: {
				rehearsal: [
					{
						when: {
							user: [
								"refund",
								"refunded",
								"money back",
								"send it back",
								"return it",
								"cancel",
							],
						},
						call: {
							name: "playbook_transition",
							arguments: {
								targetStage: "refund",
								reason: "The customer wants money back after all.",
							},
						},
					},
					{
						when: {
							after: "find_order",
						},
						say: "Order {find_order.orderNumber} is {find_order.state} with {find_order.carrier} and should arrive on {find_order.expected}. Is there anything else?",
					},
					{
						when: {
							after: "find_order",
						},
						say: "Order {find_order.orderNumber} was {find_order.state} on {find_order.delivered}. Is something wrong with it?",
					},
					{
						when: {
							failed: "find_order",
						},
						say: "{find_order.error} Shall I open a ticket, so that a colleague looks into it?",
					},
					{
						when: {
							user: "<yes>",
							lastFailed: "find_order",
						},
						call: {
							name: "create_ticket",
							arguments: {
								summary: "The order could not be looked up in the chat; the customer asks for an answer.",
								priority: "normal",
							},
						},
					},
					{
						when: {
							after: "list_orders",
						},
						say: "I see order {list_orders.0.orderNumber} of {list_orders.0.placed}, {list_orders.0.state}, and order {list_orders.1.orderNumber} of {list_orders.1.placed}, {list_orders.1.state}. Which one is it?",
					},
					{
						when: {
							after: "list_orders",
						},
						say: "I see no orders in this account. Shall I open a ticket?",
					},
					{
						when: {
							after: "create_ticket",
						},
						say: "I have opened ticket {create_ticket.ticket}. You will hear from us within {create_ticket.answerWithin}. Is there anything else?",
					},
					{
						when: {
							user: [
								"broken",
								"broke",
								"damaged",
								"cracked",
								"faulty",
								"missing",
								"wrong item",
							],
						},
						call: {
							name: "create_ticket",
							arguments: {
								summary: "{said}",
								priority: "high",
							},
						},
					},
					{
						when: {
							first: true,
							earlier: [
								"broken",
								"broke",
								"damaged",
								"cracked",
								"faulty",
								"missing",
								"wrong item",
							],
						},
						call: {
							name: "create_ticket",
							arguments: {
								summary: "{said}",
								priority: "high",
							},
						},
					},
					{
						when: [
							"don't have",
							"don't know",
							"no number",
							"my orders",
							"which orders",
							"list",
						],
						call: {
							name: "list_orders",
							arguments: {
								customerId: "{vars.customer.id}",
							},
						},
					},
					{
						when: [
							"no",
							"nope",
							"thanks",
							"thank you",
						],
						say: "Good. If that is everything, just say goodbye.",
					},
					{
						say: "Which order is it about? Its number has four digits; if you don't have it, I can list your latest orders.",
					},
				],
			},
		},
		{
			id: "refund",
			name: "Refund",
			description: "The customer wants their money back, or wants to send something back or cancel an order.",
			systemPrompt: "See whether the order can be refunded, and refund it if the customer agrees.\n\n1. You need the order number. If you don't have it, ask for it.\n2. check_refund. Not eligible: say why in one sentence, as the result gives it, and offer what is still possible. Don't argue about the rule: {$returnDays} days from delivery.\n3. Eligible: name the sum and how it is paid back, and ask for a plain yes. Silence or \"maybe\" is not a yes.\n4. After the yes: issue_refund, once. Tell the sum and that it takes three to five working days.\n\nNever issue a refund that check_refund has not allowed in this conversation, and never one twice. If the payment provider refuses it, don't try again: a colleague takes over.",
			tools: [
				{
					name: "check_refund",
					description: "Tells whether an order can be refunded, how much, and if not, why.",
					parameters: schema({"type": "object", "properties": {"orderNumber": {"type": "string", "description": "Four digits, for example 4102", "pattern": "^[0-9]{4}$"}}, "required": ["orderNumber"], "additionalProperties": false}),
				},
				{
					name: "issue_refund",
					description: "Pays an order back. Only after check_refund allowed it and the customer said yes.",
					parameters: schema({"type": "object", "properties": {"orderNumber": {"type": "string", "description": "Four digits, for example 4102", "pattern": "^[0-9]{4}$"}}, "required": ["orderNumber"], "additionalProperties": false}),
					executionPolicy: "sequential",
				},
			],
			metadata: {
				rehearsal: [
					{
						when: {
							user: "<yes>",
							last: "check_refund",
							known: "refundCheck.eligible",
						},
						call: {
							name: "issue_refund",
							arguments: {
								orderNumber: "{vars.refundCheck.orderNumber}",
							},
						},
					},
					{
						when: {
							after: "check_refund",
							known: "refundCheck.eligible",
						},
						say: "Order {check_refund.orderNumber} can be refunded: {check_refund.amount} {check_refund.currency}, paid back to your {check_refund.paidBackTo}. Shall I do that?",
					},
					{
						when: {
							after: "check_refund",
						},
						say: "I am sorry, that order cannot be refunded. {check_refund.reason} Still possible: {check_refund.stillPossible}.",
					},
					{
						when: {
							failed: "check_refund",
						},
						say: "{check_refund.error} Could you check the four digits?",
					},
					{
						when: {
							after: "issue_refund",
						},
						say: "Done. {issue_refund.amount} {issue_refund.currency} are on their way to you as refund {issue_refund.refund} and arrive {issue_refund.arrives}. Is there anything else?",
					},
					{
						when: [
							"no",
							"nope",
							"not now",
							"rather not",
						],
						say: "All right, then I leave it as it is. Is there anything else?",
					},
					{
						when: [
							"parcel",
							"delivery",
							"another order",
							"where is",
						],
						call: {
							name: "playbook_transition",
							arguments: {
								targetStage: "resolution",
								reason: "The customer asks about something else.",
							},
						},
					},
					{
						say: "Which order is it about? Its number has four digits, for example 4102.",
					},
				],
			},
		},
		{
			id: "farewell",
			name: "Farewell",
			description: "Everything is settled and the customer says goodbye.",
			systemPrompt: "Thank the customer by first name and say goodbye, in one or two sentences.\n\nIf a ticket was opened or a refund paid, repeat its number, so that they have it in writing. Ask nothing, offer nothing new.",
			metadata: {
				rehearsal: [
					{
						when: {
							known: [
								"refund.refund",
								"customer.firstName",
							],
						},
						say: "Thank you, {vars.customer.firstName}. Your refund has the number {vars.refund.refund} and arrives {vars.refund.arrives}. Goodbye.",
					},
					{
						when: {
							known: [
								"ticket.ticket",
								"customer.firstName",
							],
						},
						say: "Thank you, {vars.customer.firstName}. Your ticket has the number {vars.ticket.ticket}. Goodbye.",
					},
					{
						when: {
							known: "customer.firstName",
						},
						say: "Thank you, {vars.customer.firstName}, and goodbye.",
					},
				],
			},
		},
		{
			id: "handover",
			name: "Human handover",
			description: "The customer wants a person, or the desk cannot help any further.",
			systemPrompt: "A colleague takes over from here.\n\nSay that you are passing the conversation on, that everything said so far is passed on with it, and that somebody answers within {$handoverMinutes} minutes between 8 and 20 h. Two sentences, no apology on apology, no further question.",
			metadata: {
				rehearsal: [
					{
						say: "I am passing you on to a colleague, with everything said so far. Somebody answers within {vars.handoverMinutes} minutes between 8 and 20 h.",
					},
				],
			},
		},
	],
	transitions: [
		{
			id: "t-identify",
			description: "The customer said what it is about (an order, a parcel, a refund, a return, a broken or missing item, the account), or gave an e-mail address or a phone number.",
			from: "greeting",
			condition: {
				type: "llm_decision",
			},
			action: {
				targetStage: "authentication",
			},
		},
		{
			id: "t-known",
			description: "The account was found.",
			from: "authentication",
			condition: {
				type: "tool_call",
				toolName: "lookup_customer",
			},
			action: {
				targetStage: "triage",
			},
			priority: 20,
		},
		{
			id: "t-not-found",
			description: "Three turns and still no account: a person helps better.",
			from: "authentication",
			condition: {
				type: "max_turns",
				count: 3,
			},
			action: {
				targetStage: "handover",
			},
		},
		{
			id: "t-order",
			description: "A question about an order, a parcel, a delivery, a broken or missing item, a replacement or the account.",
			from: "triage",
			condition: {
				type: "llm_decision",
			},
			action: {
				targetStage: "resolution",
			},
		},
		{
			id: "t-refund",
			description: "The customer wants a refund, their money back, to return something or to cancel an order.",
			from: "triage",
			condition: {
				type: "llm_decision",
			},
			action: {
				targetStage: "refund",
			},
		},
		{
			id: "t-order-to-refund",
			description: "The customer wants a refund or their money back after all.",
			from: "resolution",
			condition: {
				type: "llm_decision",
			},
			action: {
				targetStage: "refund",
			},
		},
		{
			id: "t-refund-to-order",
			description: "The refund is settled or not wanted, and the customer asks about another order, a parcel or something else.",
			from: "refund",
			condition: {
				type: "llm_decision",
			},
			action: {
				targetStage: "resolution",
			},
		},
		{
			id: "t-refund-failed",
			description: "The payment provider refused: a colleague pays it by hand.",
			from: "refund",
			condition: {
				type: "tool_call",
				toolName: "issue_refund",
			},
			action: {
				targetStage: "handover",
			},
			priority: 20,
		},
	],
	initialStage: "greeting",
	globalSystemPrompt: "You write for the service desk of a small homeware shop. You are friendly, brief and exact.\n\n- Answer in the language the customer writes in.\n- Short sentences, no headings, no lists longer than three points, no exclamation marks.\n- Say only what a tool result or these instructions tell you. If you don't know, say so.\n- Never ask for a password, a card number or a security code, and don't repeat one that a customer sends.\n- Sums with their currency, days as weekdays or dates.",
	defaultLLMConfig: {
		model: "claude-sonnet-5",
		maxTokens: 1024,
	},
	metadata: {
		studio: {
			layout: {
				authentication: {
					x: 344,
					y: 120,
				},
				farewell: {
					x: 1580,
					y: 56,
				},
				greeting: {
					x: 0,
					y: 120,
				},
				handover: {
					x: 1580,
					y: 424,
				},
				refund: {
					x: 1128,
					y: 224,
				},
				resolution: {
					x: 1128,
					y: 0,
				},
				triage: {
					x: 768,
					y: 120,
				},
			},
		},
	},
};

/** For `new PlaybookOrchestrator(provider, playbook, tools, options)`. */
export const options: PlaybookOrchestratorOptions = {};

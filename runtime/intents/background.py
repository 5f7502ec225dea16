"""Lines that have nothing to do with any intent: what people also say. An intent must be liker."""

from __future__ import annotations

from typing import Final

BACKGROUND: Final = (
    "hello",
    "good morning",
    "hi, how are you?",
    "thank you",
    "thanks a lot for your help",
    "okay",
    "yes",
    "no, not that one",
    "I don't know",
    "goodbye",
    "have a nice day",
    "sorry, what did you say?",
    "tell me a joke",
    "what is your name?",
    "are you a computer?",
    "what's the weather like today?",
    "who is the president?",
    "I like music",
    "my cat is asleep on the sofa",
    "we had dinner with friends yesterday",
    "let me think about it",
    "that sounds great",
    "haha, very funny",
    "can you help me?",
    "I have a question",
    "one moment please",
    "how do I cook rice?",
    "the meeting was boring",
    "my name is Maria",
    "I was born in 1990",
)

"""Random work on many streams around a pipeline. Results are wrong where an order between two streams is missing."""
import random

import torch

CYCLES = 200_000  # of torch.cuda._sleep(): about 0.1 ms
JUNK = 99


class Stress:
    """Runs `pipe` over device images of one shape, and compares each result with its expected tensor on the device."""

    def __init__(self, pipe, images, expected, seed, streams=5):
        self.pipe, self.images, self.expected = pipe, images, expected
        self.random = random.Random(seed)
        self.streams = [torch.cuda.default_stream(), *(torch.cuda.Stream() for _ in range(streams - 1))]
        self.outs = {stream: torch.zeros_like(expected[0]) for stream in self.streams}
        self.third_streams = False
        torch.cuda.synchronize()

    def run(self, rounds, kinds=("result", "out")):
        """The rounds with a wrong result: (number, kind)."""
        wrong = torch.zeros(rounds, dtype=torch.int32, device="cuda")
        done = []
        for number in range(rounds):
            done.append((number, self.random.choice(kinds)))
            getattr(self, done[-1][1])(wrong[number])
            if number % 100 == 99:
                torch.cuda.synchronize()
        torch.cuda.synchronize()
        return [done[i] for i in wrong.nonzero().flatten().tolist()]

    def compare(self, tensor, image, wrong):
        """Queues two comparisons: at once, and after a delay in which other work may overwrite the tensor."""
        wrong += (tensor != self.expected[image]).any()
        torch.cuda._sleep(self.random.choice((1, 2, 8)) * CYCLES)
        wrong += (tensor != self.expected[image]).any()

    def result(self, wrong):
        """The input comes late on one stream and is gone at once; another stream reads the result, which is dropped."""
        image = self.random.randrange(len(self.images))
        with torch.cuda.stream(self.random.choice(self.streams)):
            late = torch.full_like(self.images[image], JUNK)
            torch.cuda._sleep(CYCLES)
            late.copy_(self.images[image])
            result = self.pipe(late)
            if self.random.random() < 0.5:
                late.fill_(JUNK)
            del late
            torch.full_like(self.images[image], JUNK)  # in the memory of the input, if torch may reuse it
        consumer = self.random.choice(self.streams)
        with torch.cuda.stream(consumer):
            tensor = torch.from_dlpack(result)
        if self.third_streams:
            third = self.random.choice(self.streams)
            third.wait_stream(consumer)
            consumer = third
        with torch.cuda.stream(consumer):
            self.compare(tensor, image, wrong)

    def out(self, wrong):
        """The stream of the call still reads the buffer when it is passed as `out`, and reads it again afterwards."""
        image = self.random.randrange(len(self.images))
        stream = self.random.choice(self.streams)
        with torch.cuda.stream(stream):
            self.pipe(self.images[image], out=self.outs[stream])
            self.compare(self.outs[stream], image, wrong)


class Inverter:
    """Inverts images on another stream, with the waits that a pipeline needs. `without` leaves one of them out."""
    WAITS = ("input ready", "input read", "out read", "out ready", "result ready", "result read")

    def __init__(self, without=""):
        self.without = without
        self.stream = torch.cuda.Stream()
        self.results = []

    def wait(self, waiting, other, reason):
        if reason != self.without:
            waiting.wait_stream(other)

    def __call__(self, image, out=None):
        caller = torch.cuda.current_stream()
        result = Result(self, torch.empty_like(image)) if out is None and len(self.results) < 2 else None
        if out is None:
            result = result or self.results.pop(0)
            self.results.append(result)
            for consumer in result.consumers:
                self.wait(self.stream, consumer, "result read")
            result.consumers = []
        self.wait(self.stream, caller, "input ready" if out is None else "out read")
        with torch.cuda.stream(self.stream):
            torch.cuda._sleep(CYCLES // 4)
            torch.sub(255, image, out=result.memory if out is None else out)
        self.wait(caller, self.stream, "input read" if out is None else "out ready")
        return result if out is None else out


class Result:
    """Memory of an Inverter, which it reuses after another result."""

    def __init__(self, maker, memory):
        self.maker, self.memory, self.consumers = maker, memory, []

    def __dlpack_device__(self):
        return self.memory.__dlpack_device__()

    def __dlpack__(self, *, stream, **options):
        consumer = torch.cuda.default_stream() if stream == 1 else torch.cuda.ExternalStream(stream)
        self.consumers.append(consumer)
        self.maker.wait(consumer, self.maker.stream, "result ready")
        return self.memory.__dlpack__(stream=-1, **options)

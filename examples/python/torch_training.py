"""Trains a tiny classifier on tar shards, and resumes where it stopped.

    torch_training.py SHARDS [EPOCHS]     SHARDS: 'train-{0000..0099}.tar' with members KEY.jpg and KEY.cls

checkpoint.pt in the working directory holds the model and the loader's position. Remove it to begin again.
"""
import os
import sys

import imgpipe
import torch

STAGES = "rgb,resize:64:64:bilinear,normalize:imagenet:formula=totensor"
CLASSES = 4
CHECKPOINT = "checkpoint.pt"


def crop(height, width, random):
    """A square with half to all of the shorter side: top, left, height, width."""
    side = random.randint(min(height, width) // 2, min(height, width))
    return random.randint(0, height - side), random.randint(0, width - side), side, side


def flip(height, width, random):
    return random.random() < 0.5


def main(shards, epochs="2"):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    loader = imgpipe.Loader(shards, imgpipe.Pipeline(STAGES, device=device, on_error="skip"), batch_size=8,
                            shuffle=True, boxes=crop, flips=flip)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 5, 4), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1),
                                torch.nn.Flatten(), torch.nn.Linear(16, CLASSES)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    first, step = 0, 0
    if os.path.exists(CHECKPOINT):
        saved = torch.load(CHECKPOINT, weights_only=True)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        loader.load_state_dict(saved["loader"])
        first, step = saved["loader"]["epoch"], saved["step"]
    for epoch in range(first, int(epochs)):
        loader.set_epoch(epoch)  # a loaded position in this epoch remains
        for batch in loader:
            images = torch.from_dlpack(batch.images)
            labels = torch.tensor([int(members["cls"]) for members in batch.members], device=device)
            loss = torch.nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(),
                        "loader": loader.state_dict(), "step": step}, CHECKPOINT)
            print(f"epoch {epoch}, step {step}: loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Images with the statistics of photographs, from numbers alone: the same ones everywhere.

A background and textures whose amplitudes fall with the frequency, as those of natural images do; over them some
shapes, the small ones more frequent, each with a colour, a slope of light, a texture and an edge of its own, which
covers what is behind it; then a camera's noise. As JPEG of quality 95 they take half a byte a pixel; those of ImageNet
take about 0.6.
"""

import numpy as np

NUM_SHAPES = 60


def waves(rng, side, slope):
    """Noise with amplitudes of 1 / frequency^slope, and a standard deviation of 1."""
    frequency = np.hypot(np.fft.fftfreq(side)[:, None], np.fft.rfftfreq(side)) * side
    spectrum = rng.normal(size=frequency.shape) + 1j * rng.normal(size=frequency.shape)
    made = np.fft.irfft2(spectrum / np.maximum(frequency, 1.0) ** slope, (side, side))
    return made / made.std()


def photograph(rng, side=256):
    """uint8 of shape [side, side, 3]."""
    y, x = np.mgrid[:side, :side]
    image = 40 * waves(rng, side, 1.5)[..., None] + rng.uniform(60, 200, 3)
    texture = waves(rng, side, 1.0)
    for _ in range(NUM_SHAPES):
        radius = side * 0.03 / rng.uniform(0.06, 1.0)
        top, left = rng.uniform(0, side, 2)
        angle, flatness = rng.uniform(0, np.pi), rng.uniform(0.4, 1.0)
        across = (x - left) * np.cos(angle) + (y - top) * np.sin(angle)
        along = (y - top) * np.cos(angle) - (x - left) * np.sin(angle)
        cover = np.clip(radius - np.hypot(across, along / flatness), 0, 1)[..., None]
        colour = rng.uniform(20, 235) + rng.normal(0, 25, 3)
        light = 1 + 0.3 * across[..., None] / radius
        roughness = 25 * rng.uniform() ** 2
        surface = roughness * np.roll(texture, rng.integers(side, size=2), (0, 1))[..., None]
        image = image * (1 - cover) + cover * (colour * light + surface)
    return np.clip(image + rng.normal(0, 1.5, (side, side, 1)), 0, 255).astype(np.uint8)
